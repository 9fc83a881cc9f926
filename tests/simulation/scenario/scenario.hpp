// A schedule that tells a story, and what must come of it.
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

/// What must come out, beside tokens that increase.
struct Expected {
  /// Somebody gets the lock, not before `from` and not after `to`.
  struct Grant {
    int client;
    Instant from;
    Instant to;
  };
  static constexpr int whoever = -1;

  std::vector<Grant> grants;  // all of them, in their order
  std::uint64_t overlaps = 0;
  std::uint64_t writes_refused = 0;  // by the store that asks for tokens
  std::uint64_t writes_lost = 0;     // by its twin, which does not
};

/// Its times count from the moment at which the story begins; connections are there by then.
struct Scenario {
  std::string_view name;
  std::string_view title;
  std::string_view story;
  std::string_view verdict;  // true if all is as expected
  Schedule schedule;
  Expected expected;
  Instant shown_until = second;  // in its picture
};

/// The story begins so long after the schedule.
inline constexpr Instant prologue = 300 * millisecond;

struct Retelling {
  Outcome outcome;            // leases, too, begin in the story's time
  std::vector<Event> events;  // since the story began; without handshakes
};
[[nodiscard]] Retelling retell(const Scenario&, const Mutant* mutant = nullptr);

/// What did not come out as expected, a line each; empty: nothing.
[[nodiscard]] std::string differences(const Expected&, const Outcome&);

/// An SVG.
[[nodiscard]] std::string picture_of(const Scenario&);

}  // namespace redlock::simulation
