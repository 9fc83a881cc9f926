// A node that does not vote, and says why.
#pragma once

#include <algorithm>
#include <string>

#include "integration/support/measure.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"

namespace redlock::testing {

/// A try for "r" fails with this code, and each node of this client reports this status and these words.
inline void check_refused(LockClient& locks, Errc code, NodeStatus status, const std::string& words) {
  const Error error = error_of([&] { (void)locks.try_lock("r"); });
  CAPTURE(error.what());
  CHECK(error.code() == code);
  REQUIRE_FALSE(error.nodes().empty());
  for (const NodeReport& report : error.nodes()) {
    CHECK(to_string(report.status) == to_string(status));
    CHECK_THAT(report.message, contains(words));
    CHECK_THAT(error.what(), contains("\n  " + report.node + ": " + std::string{to_string(status)}));
  }
}

/// Whether a look at "r" finds this status on the node.
[[nodiscard]] inline bool inspection_finds(LockClient& locks, std::size_t node, NodeStatus status) {
  return locks.inspect("r").at(node).status == status;
}

}  // namespace redlock::testing
