// Selects the nodes and the options that belong to them.
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

/// The options on the command line that concern the nodes.
struct NodeChoice {
  std::vector<std::string> urls;  ///< `--node`, repeated
  int local = 0;                  ///< `--local`: the number of private servers to start

  std::optional<std::string> restart_guard;         ///< `--restart-guard`
  bool durable_nodes = false;                       ///< `--durable-nodes`
  std::optional<std::chrono::nanoseconds> max_ttl;  ///< `--max-ttl`
  std::optional<std::string> key_prefix;            ///< `--key-prefix`
};

/// The nodes, and the private servers started for them, if any. The servers run as long as this object
/// exists.
struct Nodes {
  std::vector<Endpoint> endpoints;
  std::vector<std::string> local_urls;  ///< Empty unless private servers were started.
  std::unique_ptr<redlock::testing::LocalNodes> servers;
};

/// Takes the nodes from `--local`, else from `--node`, else from the comma-separated list in REDLOCK_NODES.
/// With `--local` it blocks until the private servers answer. Throws `redlock::Error` (misconfigured) if
/// there are no nodes, if both `--local` and `--node` are given, or if a URL is invalid.
[[nodiscard]] Nodes choose_nodes(const NodeChoice&);

/// Returns the options that all users of the nodes must agree on. Takes them from the command line, else from
/// REDLOCK_RESTART_GUARD, REDLOCK_DURABLE_NODES, REDLOCK_MAX_TTL and REDLOCK_KEY_PREFIX. Throws `redlock::Error` (misconfigured).
[[nodiscard]] Options options_of(const NodeChoice&);

}  // namespace redlock::tool
