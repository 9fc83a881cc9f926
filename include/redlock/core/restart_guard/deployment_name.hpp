// Which deployment the nodes belong to.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
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
/// are not read, a name that may be in the minority counts only if it is the only one and the client knows none. (The second
/// name of a server has no marker. Otherwise two pairs of four servers could have two names for ever.)
[[nodiscard]] inline Naming naming_of(const std::vector<GuardedNode>& nodes, const ExpectedMarker& expected) {
  struct Count {
    std::size_t current = 0;
    std::size_t all = 0;
  };
  std::map<std::string, Count> names;
  std::size_t unread = 0;
  for (const GuardedNode& node : nodes) {
    unread += node.is_reached() || node.is_second_name ? 0 : 1;
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

/// The name of a new deployment, from the names of its first nodes. Clients that find the same markers name it alike.
[[nodiscard]] inline std::string name_of_deployment(std::vector<std::string> nodes,
                                                    std::chrono::milliseconds max_ttl) {
  nodes.push_back(std::to_string(max_ttl.count()));
  return name_of(std::move(nodes));
}

/// Whether a client of these nodes has made up the name in the marker of `named`, one of them: it is the name for a
/// majority of them or for more. Two clients may find different markers, while nodes come and go, and then make up two names.
/// Returns false for more than eleven nodes if the name may be that of few of them, because there are too many choices.
[[nodiscard]] inline bool is_name_of_these(const std::vector<GuardedNode>& nodes, const GuardedNode& named) {
  int choices_left = 1024;
  for (std::size_t missing = 0; missing <= nodes.size() - quorum(nodes.size()); ++missing) {
    std::vector<bool> is_missing(nodes.size());
    std::fill_n(is_missing.rbegin(), missing, true);
    do {
      if (choices_left-- == 0) return false;
      std::vector<std::string> names;
      for (std::size_t node = 0; node < nodes.size(); ++node)
        if (!is_missing[node] && nodes[node].marker) names.push_back(nodes[node].marker->node);
      const bool is_choice = names.size() + missing == nodes.size();
      if (is_choice &&
          name_of_deployment(std::move(names), named.marker->limits.max_ttl) == named.marker->deployment)
        return true;
    } while (std::next_permutation(is_missing.begin(), is_missing.end()));
  }
  return false;
}

/// The nodes that have to get the expected name instead of theirs: all with other names if no name can have a majority, else
/// those that a client of these nodes has named while others began without them.
[[nodiscard]] inline std::vector<std::size_t> misnamed_nodes(const std::vector<GuardedNode>& nodes,
                                                             const ExpectedMarker& expected,
                                                             bool is_contested) {
  std::vector<std::size_t> misnamed;
  for (std::size_t index = 0; index < nodes.size(); ++index)
    if (const GuardedNode& node = nodes[index];
        node.standing == GuardedNode::Standing::foreign && node.agrees_with(expected) &&
        node.marker->deployment != expected.deployment && (is_contested || is_name_of_these(nodes, node)))
      misnamed.push_back(index);
  return misnamed;
}

}  // namespace redlock::inline v1::core
