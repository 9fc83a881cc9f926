// How soon a waiter notices that a lock is free that nobody released.
#pragma once

#include "benchmark/measure/report.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"

namespace redlock::benchmark {

/// From the deletion of the lock's key on a majority of the nodes until a waiter has the lock.
WakeUps wake_ups_by_deletion(const testing::LocalNodes& servers, LockClient& locks);

/// From the end of the ttl of the lock's key on all nodes until a waiter has the lock.
WakeUps wake_ups_by_expiry(const testing::LocalNodes& servers, LockClient& locks);

}  // namespace redlock::benchmark
