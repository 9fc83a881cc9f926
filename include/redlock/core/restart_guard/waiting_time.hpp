// How long a node waits after a restart.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include "redlock/core/restart_guard/guarded_node.hpp"

namespace redlock::inline v1::core {

/// The quarantine of a node, one of `nodes`, that has no marker of its current run. `whole`: how long the longest lock
/// may last. A node that has its marker of an earlier run has granted nothing since the server started, so that time
/// counts; the server reports it in whole seconds.
[[nodiscard]] inline std::chrono::milliseconds waiting_time(const GuardedNode& node,
                                                            const std::vector<GuardedNode>& nodes,
                                                            const ExpectedMarker& expected,
                                                            std::chrono::milliseconds whole) {
  const bool has_its_marker = node.agrees_with(expected) && node.marker->deployment == expected.deployment &&
                              node.is_only_one_with_its_name(nodes);
  if (!has_its_marker || !expected.uptime_counts) return whole;
  return std::clamp(whole - node.uptime + std::chrono::seconds{1}, std::chrono::milliseconds::zero(), whole);
}

}  // namespace redlock::inline v1::core
