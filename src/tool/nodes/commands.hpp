// redlock nodes: how the nodes are, and what belongs to all of them.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "tool/nodes.hpp"

namespace redlock::tool {

struct NodesArguments {
  NodeChoice nodes;
  std::string resource;                             ///< A lock that the user may take; empty: a made-up name.
  bool json = false;                                ///< Print JSON.
  bool wait = false;                                ///< Block until all nodes vote.
  std::optional<std::chrono::nanoseconds> timeout;  ///< For `wait`. Empty: no time limit.
};

/// Prints how each node is, what is wrong and what to do, and returns the exit code: `success`, `degraded` or `unsafe`.
/// Writes nothing to the nodes. Blocks for a second and a few timeouts at most.
///
/// With `wait`, waits until all nodes vote (see `wait_until_all_vote`), prints which do, and returns `success` if all do.
/// Throws `redlock::Error`.
int nodes(const NodesArguments&);

/// Raises `max_ttl` of the nodes to that of the arguments, prints what it is then, and returns `success`. Throws
/// `redlock::Error` if a node is not well.
int set_max_ttl(const NodesArguments&);

/// Begins a deployment on new nodes as the first client would, but only if all nodes are reachable, so that none of them
/// has to wait. If there is one already, says so and changes nothing. Returns `success` if all nodes vote in the end. Throws
/// `redlock::Error`.
int begin_deployment(const NodesArguments&);

}  // namespace redlock::tool
