// Checks for nodes that refuse to vote.
#pragma once

#include <string>

#include "integration/support/measure.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"

namespace redlock::testing {

/// Checks that locking "r" fails with this code, and that each node reports this status and these words.
inline void check_refused(LockClient& locks, Errc code, NodeStatus status, const std::string& words) {
  const LockResult refused = locks.try_lock("r");
  CAPTURE(refused.message());
  CHECK(refused.code() == code);
  REQUIRE_FALSE(refused.nodes().empty());
  for (const NodeReport& report : refused.nodes()) {
    CHECK(to_string(report.status) == to_string(status));
    CHECK_THAT(report.message, contains(words));
    CHECK_THAT(refused.message(), contains("\n  " + report.node + ": " + std::string{to_string(status)}));
  }
}

/// Whether `inspect("r")` reports this status for the node.
[[nodiscard]] inline bool inspection_finds(LockClient& locks, std::size_t node, NodeStatus status) {
  return locks.inspect("r").at(node).status == status;
}

}  // namespace redlock::testing
