// Which deployment the nodes belong to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/restart_guard/guarded_node.hpp"

namespace redlock::inline v1::core {

/// What the markers of all nodes say about the deployment.
struct Naming {
  std::string name;           // empty if there is none, or if it is not certain yet which one it is
  bool is_contested = false;  // there are several names, and none of them can have a majority
};

/// Every client that has read all markers chooses the same name: that of a majority, or else the commonest one, or else
/// the smallest one. Names that current runs of servers have count more than those of earlier runs. While some markers
/// are not read, a name that may be in the minority counts only if it is the only one and the client knows none.
[[nodiscard]] inline Naming naming_of(const std::vector<GuardedNode>& nodes, const ExpectedMarker& expected) {
  struct Count {
    std::size_t current = 0;
    std::size_t all = 0;
  };
  std::map<std::string, Count> names;
  std::size_t unread = 0;
  for (const GuardedNode& node : nodes) {
    unread += node.is_reached() ? 0 : 1;
    if (!node.is_reached() || !node.agrees_with(expected) || !node.marker->is_named()) continue;
    Count& count = names[node.marker->deployment];
    ++count.all;
    count.current += node.marker->run_id == node.run_id ? 1 : 0;
  }
  if (names.empty()) return {};
  const std::size_t needed = quorum(nodes.size());
  const auto rank = [needed](const Count& count) {
    return std::tuple{count.all >= needed, count.current, count.all};
  };
  // The first of the greatest, and they are sorted by name.
  const auto& [name, count] =
      *std::max_element(names.begin(), names.end(),
                        [&](const auto& a, const auto& b) { return rank(a.second) < rank(b.second); });
  const bool has_no_majority = std::all_of(
      names.begin(), names.end(), [&](const auto& each) { return each.second.all + unread < needed; });
  const bool is_only_one = names.size() == 1 && expected.deployment.empty();
  if (count.all < needed && !has_no_majority && !is_only_one) return {};
  return {name, has_no_majority && names.size() > 1};
}

}  // namespace redlock::inline v1::core
