// Runs many schedules, in several threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "simulation/world/world.hpp"

namespace redlock::simulation {

struct Campaign {
  std::uint64_t first_seed = 1;
  std::uint64_t schedules = 1;
  std::optional<Profile> profile = std::nullopt;  // empty: both profiles alternate
  const Mutant* mutant = nullptr;
  unsigned jobs = 1;

  [[nodiscard]] Profile profile_of(std::uint64_t seed) const {
    return profile.value_or(seed % 2 == 0 ? Profile::within : Profile::beyond);
  }
};

struct CampaignResult {
  Figures figures;
  /// The lowest seed that failed, for any number of threads. Empty if no promise was broken.
  std::optional<std::uint64_t> failed_seed;
  std::optional<Violation> violation;
};

/// Stops soon after the first violation.
[[nodiscard]] CampaignResult run(const Campaign&);

/// Hash of all histories of the campaign: two builds agree on it only if the histories are equal byte for byte.
[[nodiscard]] std::uint64_t digest_of_histories(const Campaign&);

/// Removes the faults that are not needed to break the same promise.
[[nodiscard]] Schedule shrink(Schedule schedule, Rule broken, const Mutant* mutant);

}  // namespace redlock::simulation
