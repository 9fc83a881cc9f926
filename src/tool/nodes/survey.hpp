// What the nodes say, seen by a lock client and by questions to each server.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "redlock/node_report.hpp"
#include "redlock/options.hpp"
#include "tool/nodes.hpp"
#include "tool/probe/node_facts.hpp"

namespace redlock::tool {

struct NodeView {
  NodeReport report;  ///< Whether the node votes, as a lock client sees it.
  NodeFacts facts;
  std::string host;  ///< Where the server is: an IP address, a name, or `this machine`.

  /// Returns true if the node votes, and its user may do all that locks need.
  [[nodiscard]] bool votes() const;
  /// The rules that the user lacks for this use, separated by blanks; empty if it may do all. Printable.
  [[nodiscard]] std::string missing(Use) const;
};

struct Survey {
  std::vector<NodeView> nodes;
  Options options;
  bool is_resource_made_up = false;

  [[nodiscard]] std::size_t votes() const;
  [[nodiscard]] std::size_t quorum() const;
  /// The longest that a client waits for a node.
  [[nodiscard]] std::chrono::nanoseconds node_timeout() const;
  /// The marker that most nodes agree on; none if no node has a marker that names a deployment.
  [[nodiscard]] std::optional<core::Marker> deployment() const;
};

/// The name of a lock that nobody else uses.
[[nodiscard]] std::string made_up_resource();

/// Asks all nodes. `resource`: the name of a lock that the user may take; empty: a name is made up. Writes no key. Blocks
/// for a few timeouts at most, and `between_readings`. Throws `Error` (invalid_argument, or misconfigured) if the options
/// are invalid, or if a name was made up and a user may not use it.
[[nodiscard]] Survey survey(const Nodes&, const std::string& resource,
                            std::chrono::nanoseconds between_readings);

}  // namespace redlock::tool
