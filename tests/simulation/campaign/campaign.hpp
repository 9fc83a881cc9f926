// Many schedules, on all processors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "simulation/world/world.hpp"

namespace redlock::simulation {

struct Campaign {
  std::uint64_t first_seed = 1;
  std::uint64_t schedules = 1;
  std::optional<Profile> profile = std::nullopt;  // none: by turns
  const Mutant* mutant = nullptr;
  unsigned jobs = 1;

  [[nodiscard]] Profile profile_of(std::uint64_t seed) const {
    return profile.value_or(seed % 2 == 0 ? Profile::within : Profile::beyond);
  }
};

struct CampaignResult {
  Figures figures;
  /// Of the first seed that failed, however the schedules were shared out. None: no promise was broken.
  std::optional<std::uint64_t> failed_seed;
  std::optional<Violation> violation;
};

/// Ends soon after the first violation.
[[nodiscard]] CampaignResult run(const Campaign&);

/// A number that two builds agree on only if all the histories of the campaign are the same, byte for byte.
[[nodiscard]] std::uint64_t digest_of_histories(const Campaign&);

/// The schedule with as few of its faults as still break the same promise.
[[nodiscard]] Schedule shrink(Schedule schedule, Rule broken, const Mutant* mutant);

}  // namespace redlock::simulation
