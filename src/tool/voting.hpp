// redlock nodes: which nodes vote, and which ttls they allow.
#pragma once

#include <chrono>
#include <optional>

#include "tool/nodes.hpp"

namespace redlock::tool {

struct NodesArguments {
  NodeChoice nodes;
  bool wait = false;                                ///< Block until all nodes vote.
  std::optional<std::chrono::nanoseconds> timeout;  ///< For `wait`. Empty: no time limit.
};

/// Prints which nodes vote, and returns the exit code: success if all of them do.
///
/// Without `wait` it only reads. With `wait` it takes a lock with a random name and without a fencing token
/// several times a second, until all nodes have granted it for two seconds, and releases it each time. Like
/// every lock, this lets the restart guard mark the nodes. While it waits, it writes to stderr which nodes do
/// not vote, whenever that changes. Throws `redlock::Error` (misconfigured or invalid_argument) if a majority of the nodes can never vote.
int nodes(const NodesArguments&);

/// Raises `max_ttl` of the nodes to that of the arguments, prints what it is then, and returns `success`. Throws
/// `redlock::Error` if a node is not well.
int set_max_ttl(const NodesArguments&);

}  // namespace redlock::tool
