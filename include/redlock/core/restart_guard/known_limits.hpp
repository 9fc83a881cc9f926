// What a client knows about the limits of ttls.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/restart_guard/guarded_node.hpp"

namespace redlock::inline v1::core {

/// The limits of one deployment as its markers name them. They only ever rise, and every node has a new ceiling before the
/// first one has the new `max_ttl` (`CeilingRaise`). So once a lock may have a longer ttl, the ceiling of every intact marker
/// covers it. All limits are zero while they are not known.
struct KnownLimits {
  TtlLimits confirmed;  // a majority of all nodes has these, or greater ones
  TtlLimits in_reach;   // what the markers say

  /// Whether a lock may have this ttl. True as well while no majority could grant it.
  [[nodiscard]] bool allow(std::chrono::milliseconds ttl) const noexcept {
    return confirmed.max_ttl == confirmed.max_ttl.zero() || ttl <= confirmed.max_ttl;
  }
  /// `own`: the limit to begin with if no marker is left.
  [[nodiscard]] TtlLimits of_new_marker(std::chrono::milliseconds own) const noexcept {
    return in_reach == TtlLimits{} ? TtlLimits{own, own} : in_reach;
  }
};

/// Reads the markers of the nodes in reach, or those of earlier runs if none is intact. `before`: what was known of the same
/// deployment. A minority that names false limits has no effect if enough others are in reach: what counts is the middle of
/// the limits; of two in the middle the smaller `max_ttl` and the greater ceiling.
[[nodiscard]] inline KnownLimits limits_of(const std::vector<GuardedNode>& nodes,
                                           const ExpectedMarker& expected, const KnownLimits& before) {
  using Limits = std::vector<std::chrono::milliseconds>;
  Limits max_ttls;
  Limits ceilings;
  const auto read = [&](const auto& counts) {
    for (const GuardedNode& node : nodes) {
      if (!counts(node)) continue;
      max_ttls.push_back(node.marker->limits.max_ttl);
      ceilings.push_back(node.marker->limits.ceiling);
    }
    for (Limits* const limits : {&max_ttls, &ceilings})
      std::sort(limits->begin(), limits->end(), std::greater<>{});
  };
  KnownLimits known = before;
  read([&](const GuardedNode& node) { return node.is_intact(expected); });
  if (const std::size_t majority = quorum(nodes.size()); ceilings.size() >= majority)
    known.confirmed = {std::max(known.confirmed.max_ttl, max_ttls[majority - 1]),
                       std::max(known.confirmed.ceiling, ceilings[majority - 1])};
  if (ceilings.empty()) read([&](const GuardedNode& node) { return node.belongs(expected); });
  known.in_reach = known.confirmed;
  if (ceilings.empty()) return known;
  known.in_reach = {std::max(known.confirmed.max_ttl, max_ttls[max_ttls.size() / 2]),
                    std::max(known.confirmed.ceiling, ceilings[(ceilings.size() - 1) / 2])};
  return known;
}

}  // namespace redlock::inline v1::core
