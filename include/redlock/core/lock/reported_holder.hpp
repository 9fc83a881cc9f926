// Who has the lock, according to the votes on an attempt.
#pragma once

#include <optional>
#include <vector>

#include "redlock/core/operation/tally.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::core {

/// Returns none if too few nodes have said.
[[nodiscard]] inline std::optional<Holder> holder_in(const Tally& tally) {
  std::vector<NodeReport> reports(tally.nodes());
  for (NodeIndex node = 0; node < tally.nodes(); ++node) {
    reports[node].owner = tally[node].owner;
    reports[node].ttl = tally[node].ttl;
  }
  return holder_of(reports);
}

}  // namespace redlock::inline v1::core
