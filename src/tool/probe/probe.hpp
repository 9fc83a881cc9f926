// Asks all nodes what they say about themselves.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "redlock/clock.hpp"
#include "redlock/endpoint.hpp"
#include "tool/probe/node_facts.hpp"

namespace redlock::tool {

struct ProbeOptions {
  /// Whether the user may use it, and what belongs to it. It is neither read nor written.
  std::string lock_key;
  std::string unused_key;              ///< A random one, beside the lock key, on which commands are tried.
  std::string key_prefix;              ///< Of the markers.
  bool is_guarded = true;              ///< Whether there are markers.
  Clock::duration connect_timeout{};   ///< For making one connection.
  Clock::duration answer_timeout{};    ///< For each of a few round trips.
  Clock::duration between_readings{};  ///< Of a clock, whose rate is measured; zero: not measured.
};

/// Asks all nodes at the same time, over connections of its own. Blocks for the connect timeout, seven answer timeouts and
/// the time between the readings at most; a node that does not answer delays no other. Writes no key: commands that
/// write are sent in forms that have no effect, only to see whether the user may use them. A server that refuses one of
/// them has an entry in its `ACL LOG`. Throws `std::system_error` if there are no threads.
[[nodiscard]] std::vector<NodeFacts> probe(const std::vector<Endpoint>& nodes, const ProbeOptions& options);

}  // namespace redlock::tool
