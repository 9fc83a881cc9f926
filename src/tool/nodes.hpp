// Which nodes the tool works on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "redlock/endpoint.hpp"
#include "redlock/testing/local_nodes.hpp"

namespace redlock::tool {

/// What the command line says of them.
struct NodeChoice {
  std::vector<std::string> urls;  ///< `--node`, repeated
  int local = 0;                  ///< `--local`: so many private servers
};

/// The nodes, and the private servers behind them, which live as long as this.
struct Nodes {
  std::vector<Endpoint> endpoints;
  std::vector<std::string> local_urls;  ///< Of private servers only.
  std::unique_ptr<redlock::testing::LocalNodes> servers;
};

/// From `--local`, else `--node`, else the comma-separated REDLOCK_NODES. Blocks until private servers answer.
/// Throws `redlock::Error` (misconfigured) for none at all, for both, and for what is not an endpoint.
[[nodiscard]] Nodes choose_nodes(const NodeChoice&);

}  // namespace redlock::tool
