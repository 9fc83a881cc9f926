// Which nodes the tool works on.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redlock/endpoint.hpp"
#include "redlock/options.hpp"
#include "redlock/testing/local_nodes.hpp"

namespace redlock::tool {

/// What the command line says of them.
struct NodeChoice {
  std::vector<std::string> urls;  ///< `--node`, repeated
  int local = 0;                  ///< `--local`: so many private servers

  std::optional<std::string> restart_guard;         ///< `--restart-guard`
  bool durable_nodes = false;                       ///< `--durable-nodes`
  std::optional<std::chrono::nanoseconds> max_ttl;  ///< `--max-ttl`
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

/// What the users of the nodes have to agree on: from the command line, else from REDLOCK_RESTART_GUARD,
/// REDLOCK_DURABLE_NODES and REDLOCK_MAX_TTL. Throws `redlock::Error` (misconfigured).
[[nodiscard]] Options options_of(const NodeChoice&);

}  // namespace redlock::tool
