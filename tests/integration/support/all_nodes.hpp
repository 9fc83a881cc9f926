// Waits for all nodes. A call returns when a majority has answered. The other nodes may execute its commands later, and
// a client's first call may leave out a node that is slow to connect.
#pragma once

#include <chrono>
#include <string>

#include "integration/support/observers.hpp"
#include "redlock/lock_client.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

namespace redlock::testing {

/// Takes a lock and releases it. Returns true if every node granted it.
[[nodiscard]] inline bool all_grant(LockClient& locks, Observers& servers, const std::string& resource) {
  const auto lease = locks.try_lock(resource, {.fencing = false});
  const auto all = static_cast<int>(servers.size());
  return lease && eventually([&] { return servers.holding(resource, lease->owner_value()) == all; },
                             std::chrono::milliseconds{50});
}

/// Waits until every node grants locks to this client. Leaves neither locks nor counters behind.
inline void reach_all(LockClient& locks, Observers& servers) {
  const std::string resource = "warm up";
  REQUIRE(eventually([&] { return all_grant(locks, servers, resource); }));
  REQUIRE(eventually([&] { return servers.having(resource) == 0; }));
}

/// Whether every node has its marker, and none is in quarantine.
[[nodiscard]] inline bool all_are_marked(Observers& servers) {
  return servers.having("redlock:node") == static_cast<int>(servers.size()) &&
         servers.having("redlock:quarantine") == 0;
}

}  // namespace redlock::testing
