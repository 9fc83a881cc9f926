// A schedule written by hand, and its expected outcome.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/judge/history.hpp"
#include "simulation/mutant/mutant.hpp"
#include "simulation/scenario/schedule.hpp"
#include "simulation/world/world.hpp"

namespace redlock::simulation {

/// The expected outcome. Tokens must always increase.
struct Expected {
  /// A client gets the lock between `from` and `to`.
  struct Grant {
    int client;
    Instant from;
    Instant to;
  };
  static constexpr int anybody = -1;

  std::vector<Grant> grants;  // all grants, in order
  std::uint64_t overlaps = 0;
  std::uint64_t writes_refused = 0;  // by the fenced store
  std::uint64_t writes_lost = 0;     // by the unfenced store
};

/// Times are relative to the start of the scenario. Connections exist by then.
struct Scenario {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  std::string_view verdict;  // shown if the outcome is as expected
  Schedule schedule;
  Expected expected;
  Instant shown_until = second;  // end of the picture
};

/// Time between the start of the world and the start of the scenario.
inline constexpr Instant warm_up = 300 * millisecond;

struct ScenarioRun {
  Outcome outcome;            // times of leases are relative to the start of the scenario
  std::vector<Event> events;  // since the start of the scenario, without handshakes
};
[[nodiscard]] ScenarioRun run_scenario(const Scenario&, const Mutant* mutant = nullptr);

/// One line per difference from the expected outcome; empty if there is none.
[[nodiscard]] std::string differences(const Expected&, const Outcome&);

/// Draws the scenario as SVG.
[[nodiscard]] std::string picture_of(const Scenario&);

}  // namespace redlock::simulation
