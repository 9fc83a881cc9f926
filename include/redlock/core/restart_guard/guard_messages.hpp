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

/// `whole`: the length of a whole quarantine. One that gave credit for the uptime began, in effect, with the server.
[[nodiscard]] inline Trouble trouble_of_waiting(const GuardedNode& node, const ExpectedMarker& expected,
                                                Span whole, Time now) {
  using std::chrono::ceil, std::chrono::milliseconds, std::chrono::seconds;
  if (node.quarantined_until == never)
    return {NodeStatus::quarantined,
            "votes again once " + expected.keys->quarantine + ", which has no ttl, is deleted"};
  const milliseconds left = ceil<milliseconds>(std::max(node.quarantined_until - now, Span::zero()));
  const milliseconds since = std::max(ceil<milliseconds>(whole) - left, milliseconds::zero());
  const bool is_since_restart = std::chrono::abs(node.running_for(now) - since) <= seconds{2};
  return trouble_of_quarantine(
      left,
      (is_since_restart ? "restarted " : "restarted or lost its data, noticed ") + readable(since) + " ago");
}

[[nodiscard]] inline std::string describe_foreign(const GuardedNode& node, const ExpectedMarker& expected) {
  const std::string remedy = "; all clients must agree. To change it, stop them all and delete " +
                             expected.keys->marker + " on every node";
  if (!node.marker) return no_marker_in(*expected.keys, std::string_view{node.text}.substr(0, 100));
  const Marker& marker = *node.marker;
  if (marker.nodes != expected.nodes)
    return "its marker says " + std::to_string(marker.nodes) + (marker.nodes == 1 ? " node" : " nodes") +
           ", but this client has " + std::to_string(expected.nodes) + remedy;
  if (marker.limits.ceiling > expected.highest_ceiling)
    return "locks on these nodes may live for " + readable(marker.limits.ceiling) +
           ", but max_ttl of this client is " + readable(expected.highest_ceiling) +
           ", and the strict restart guard needs at least as much";
  if (expected.deployment.empty())
    return "its marker names deployment " + marker.deployment + ", but those of other nodes name others" +
           remedy;
  return "its marker names deployment " + marker.deployment + ", but this client uses " +
         std::string{expected.deployment} + "; to make the node join that one, delete its " +
         expected.keys->marker;
}

}  // namespace detail

/// Why a node that votes does not grant a lock with this ttl.
[[nodiscard]] inline Trouble trouble_of_long_ttl(std::chrono::milliseconds ttl,
                                                 std::chrono::milliseconds max_ttl, const MarkerKeys& keys) {
  const std::string prefix = keys.marker.substr(std::min(marker_key.size() + 1, keys.marker.size()));
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(ttl).count();
  return {NodeStatus::ttl_too_long,
          "the ttl, with any lock_delay, is " + readable(ttl) + ", but max_ttl of these nodes is " +
              readable(max_ttl) + "; to raise it: redlock nodes set --max-ttl " + std::to_string(seconds) +
              "s" + (prefix.empty() ? "" : " --key-prefix " + prefix)};
}

/// Why a node that answered is not admitted. `quarantine`: the length of a whole quarantine. Precondition: the node's
/// standing is neither `away`, `failed` nor `admitted`.
[[nodiscard]] inline Trouble objection_to(const GuardedNode& node, const ExpectedMarker& expected,
                                          Span quarantine, Time now) {
  using Standing = GuardedNode::Standing;
  switch (node.standing) {
    case Standing::lost:
      return {NodeStatus::quarantined, "the node has no marker: it lost its data or is new",
              std::chrono::milliseconds::zero()};
    case Standing::unassigned:
      return {NodeStatus::quarantined,
              "the node has waited, but no majority of the nodes is ready to start: start the others",
              std::chrono::milliseconds::zero()};
    case Standing::quarantined:
      return detail::trouble_of_waiting(node, expected, quarantine, now);
    case Standing::foreign:
      return {NodeStatus::other_deployment, detail::describe_foreign(node, expected)};
    default:
      return {NodeStatus::quarantined, "the client is checking whether the node kept its data",
              std::chrono::milliseconds::zero()};
  }
}

}  // namespace redlock::inline v1::core
