// The messages that say why the restart guard bars a node.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "redlock/core/base/time.hpp"
#include "redlock/core/restart_guard/guarded_node.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

namespace detail {

[[nodiscard]] inline std::string readable(Span time) {
  using std::chrono::ceil, std::chrono::milliseconds, std::chrono::seconds;
  if (time < seconds{1}) return std::to_string(ceil<milliseconds>(time).count()) + " ms";
  return std::to_string(ceil<seconds>(time).count()) + " s";
}

[[nodiscard]] inline std::string describe_quarantine(const GuardedNode& node, Span whole, Time now) {
  if (node.quarantined_until == never)
    return "votes again once redlock:quarantine, which has no ttl, is deleted";
  const Span left = std::max(node.quarantined_until - now, Span::zero());
  return "restarted without its data " + readable(std::max(whole - left, Span::zero())) +
         " ago, votes again in " + readable(left);
}

[[nodiscard]] inline std::string describe_foreign(const GuardedNode& node, const ExpectedMarker& expected) {
  constexpr const char* remedy =
      "; all clients must agree. To change it, stop them all and delete redlock:node on every node";
  if (!node.marker) return "redlock:node does not contain a marker: " + node.text.substr(0, 100);
  const Marker& marker = *node.marker;
  if (marker.nodes != expected.nodes)
    return "its marker says " + std::to_string(marker.nodes) + " nodes, but this client has " +
           std::to_string(expected.nodes) + remedy;
  if (marker.max_ttl != expected.max_ttl)
    return "its marker says max_ttl " + std::to_string(marker.max_ttl.count()) + " ms, but this client has " +
           std::to_string(expected.max_ttl.count()) + " ms" + remedy;
  if (expected.deployment.empty())
    return "its marker names deployment " + marker.deployment + ", but those of other nodes name others" +
           remedy;
  return "its marker names deployment " + marker.deployment + ", but this client uses " +
         std::string{expected.deployment} + "; to make the node join that one, delete its redlock:node";
}

}  // namespace detail

/// Why a node that answered is not admitted. `quarantine`: the length of a whole quarantine. Precondition: the node's
/// standing is neither `away`, `failed` nor `admitted`.
[[nodiscard]] inline Trouble objection_to(const GuardedNode& node, const ExpectedMarker& expected,
                                          Span quarantine, Time now) {
  using Standing = GuardedNode::Standing;
  switch (node.standing) {
    case Standing::lost:
      return {NodeStatus::quarantined, "the node has no marker: it lost its data or is new"};
    case Standing::unassigned:
      return {NodeStatus::quarantined, "the node has waited, but no majority of the nodes is ready to start"};
    case Standing::quarantined:
      return {NodeStatus::quarantined, detail::describe_quarantine(node, quarantine, now)};
    case Standing::foreign:
      return {NodeStatus::other_deployment, detail::describe_foreign(node, expected)};
    default:
      return {NodeStatus::quarantined, "the client is checking whether the node kept its data"};
  }
}

}  // namespace redlock::inline v1::core
