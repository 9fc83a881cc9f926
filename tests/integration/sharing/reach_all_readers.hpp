// Waits until all nodes grant shared locks.
#pragma once

#include <chrono>
#include <string>

#include "integration/support/observers.hpp"
#include "redlock/lock_client.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

namespace redlock::testing {

/// As `reach_all`. Servers learn the scripts of shared locks at their first use, and a lock that a majority has granted meanwhile
/// gets no copy on the others.
inline void reach_all_readers(LockClient& locks, Observers& servers) {
  const std::string resource = "warm up";
  REQUIRE(eventually([&] {
    const auto lease = locks.try_lock(resource, {.ttl = std::chrono::seconds{2}, .shared = true});
    return lease && eventually([&] { return servers.having(resource) == static_cast<int>(servers.size()); },
                               std::chrono::milliseconds{50});
  }));
  REQUIRE(eventually([&] { return servers.having(resource) == 0; }));
  servers.command({"DEL", "redlock:f:{" + resource + "}"});
}

}  // namespace redlock::testing
