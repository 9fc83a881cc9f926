// Calls with a time limit that ends before enough nodes have answered.
#pragma once

#include <algorithm>
#include <cstddef>

#include "redlock/core/base/quorum.hpp"
#include "redlock/lock_result.hpp"

namespace redlock::inline v1::detail {

/// Whether the call's time was over while a majority was still possible, so that nobody knows whether the lock is free. A timed
/// call of the standard library returns false then.
[[nodiscard]] inline bool is_out_of_time(const LockResult& result) {
  if (result.code() != Errc::no_quorum) return false;
  const auto nodes = result.nodes();
  const auto possible = std::ranges::count_if(nodes, [](const NodeReport& node) {
    return node.status == NodeStatus::granted || node.status == NodeStatus::held ||
           node.status == NodeStatus::not_awaited;
  });
  return static_cast<std::size_t>(possible) >= core::quorum(nodes.size());
}

}  // namespace redlock::inline v1::detail
