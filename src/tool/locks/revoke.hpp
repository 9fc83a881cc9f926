// redlock revoke: asks the holder of a lock to give it up.
#pragma once

#include <string>

#include "tool/nodes.hpp"

namespace redlock::tool {

struct RevokeArguments {
  NodeChoice nodes;
  std::string resource;
  std::string why = "revoked";  ///< For the holder: 1 to 200 bytes.
};

/// Asks the holder, or all readers, who may ignore it, and prints who that is. Returns `success` if a majority of the nodes
/// shows the same holder, or readers, `conflict` if nobody holds the lock, and `no_quorum` if too few nodes answered (`usage` if a majority is
/// misconfigured): then those that answered have asked their holder. Throws `redlock::Error`.
int revoke(const RevokeArguments&);

}  // namespace redlock::tool
