// Automatic renewal of leases, on real servers.
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Lease;
using redlock::LockOptions;
using redlock::Loss;
using redlock::Mutex;
using redlock::Redlock;
using redlock::Release;
using redlock::SingleNodeLock;
using redlock::State;

const LockOptions renewing{.ttl = 1s};

/// Each extension reads PTTL once per node. After the nodes are marked, nothing else reads it.
std::uint64_t extensions(Observers& servers) { return servers.calls("pttl"); }

/// Whether the lease is held for this time, by its own state and on a majority of the servers.
bool stays_held(const Lease& lease, Observers& servers, Clock::duration time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
    if (lease.state() != State::held) return false;
    if (servers.holding(lease.resource(), lease.owner_value()) <= static_cast<int>(servers.size() / 2))
      return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

}  // namespace

TEST_CASE("a_renewed_lease_outlives_its_ttl_many_times") {
  LocalNodes nodes{5};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  reach_all(locks, servers);
  const std::uint64_t before = extensions(servers);
  const auto lease = locks.try_lock("r", renewing);
  REQUIRE(lease);
  const auto token = lease->fencing_token();
  CHECK(stays_held(*lease, servers, 4s));
  CHECK(lease->fencing_token() == token);
  CHECK(lease->deadline() > Clock::now() + 400ms);
  CHECK(extensions(servers) - before >= 5 * 9);
  CHECK(extensions(servers) - before <= 5 * 16);
}

TEST_CASE("a_lease_without_renewal_is_not_renewed") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  reach_all(locks, servers);
  const std::uint64_t before = extensions(servers);
  const auto lease = locks.try_lock("r", {.ttl = 1s, .renewal = redlock::Renewal::none});
  REQUIRE(lease);
  REQUIRE(eventually([&] { return lease->state() == State::lost; }));
  CHECK(lease->loss() == Loss::deadline_passed);
  CHECK(extensions(servers) - before <= 3);  // the grants read the PTTL of the quarantine
}

TEST_CASE("a_lease_of_a_single_node_lock_is_renewed_too") {
  LocalNodes nodes{1};
  Observers servers{nodes};
  SingleNodeLock locks{endpoints(nodes)[0]};
  const auto lease = locks.try_lock("r", renewing);
  REQUIRE(lease);
  CHECK(stays_held(*lease, servers, 3s));
}

TEST_CASE("a_lease_is_renewed_while_a_minority_is_dead_or_hung") {
  LocalNodes nodes{5};
  Observers all{nodes};
  Redlock locks{endpoints(nodes)};
  reach_all(locks, all);
  const auto lease = locks.try_lock("r", renewing);
  REQUIRE(lease);
  REQUIRE(eventually([&] { return all.holding("r", lease->owner_value()) == 5; }));
  nodes.kill(0);
  nodes.pause(1);
  Observers servers{nodes, {2, 3, 4}};
  CHECK(stays_held(*lease, servers, 3s));
}

TEST_CASE("a_released_or_destroyed_lease_is_no_longer_renewed") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  InspectableLock locks{endpoints(nodes)};
  for (int round = 0; round < 1000; ++round) {
    auto lease = locks.try_lock("r", renewing);
    REQUIRE(lease);
    if (round % 2 == 0) lease->release();
  }
  REQUIRE(eventually([&] { return locks.pending() == 0; }));  // also of a node that is behind the others
  const auto held = locks.try_lock("held", renewing);
  REQUIRE(held);
  const std::uint64_t before = extensions(servers);
  std::this_thread::sleep_for(2s);
  CHECK(held->state() == State::held);
  const std::uint64_t renewed = extensions(servers) - before;
  CHECK(renewed >= 3 * 4);
  CHECK(renewed <= 3 * 9);
  CHECK(eventually([&] { return locks.active() == 0; }));  // not while an extension is under way
}

TEST_CASE("a_lease_that_outlives_its_client_is_renewed_until_it_is_destroyed") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Lease lease;
  {
    Redlock locks{endpoints(nodes)};
    lease = locks.try_lock("r", renewing).value();
  }
  CHECK(stays_held(lease, servers, 2s));
  lease = {};
  CHECK(eventually([&] { return servers.having("r") == 0; }));
  const std::uint64_t before = extensions(servers);
  std::this_thread::sleep_for(600ms);
  CHECK(extensions(servers) == before);
}

TEST_CASE("max_hold_ends_and_releases_a_lease_however_often_it_is_extended") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  REQUIRE(is_granted(locks.try_lock("warm up")));
  const auto begun = Clock::now();
  const auto lease = locks.try_lock("r", {.ttl = 600ms, .max_hold = 1s});
  REQUIRE(lease);
  REQUIRE(eventually([&] { return lease->state() == State::lost; }));
  const auto over = Clock::now();
  CHECK(over - begun >= 990ms);
  CHECK(lease->loss() == Loss::max_hold);
  CHECK(lease->deadline() <= begun + 1100ms);
  // Without a release the copies would live up to half a second longer.
  CHECK(eventually([&] { return servers.having("r") == 0; }));
}

TEST_CASE("a_mutex_renews_its_lease_by_default") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  Mutex mutex{locks, "r", {.ttl = 1s}};
  mutex.lock();
  std::this_thread::sleep_for(3s);
  CHECK(mutex.lease()->state() == State::held);
  mutex.unlock();
  CHECK(mutex.last_release() == Release::released);

  Mutex left_alone{locks, "r", {.ttl = 300ms, .renewal = redlock::Renewal::none}};
  left_alone.lock();
  CHECK(eventually([&] { return left_alone.lease()->state() == State::lost; }));
  left_alone.unlock();
}

TEST_CASE("explicit_extensions_and_renewals_may_be_combined") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), unhurried};
  auto lease = locks.try_lock("r", {.ttl = 2s});
  REQUIRE(lease);
  const auto end = Clock::now() + 2s;
  while (Clock::now() < end) {
    REQUIRE(lease->extend());
    REQUIRE(lease->state() == State::held);
    std::this_thread::sleep_for(1ms);
  }
  CHECK(lease->release() == Release::released);
}

TEST_CASE("leases_are_renewed_while_other_calls_run") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), unhurried};
  std::vector<Lease> held;
  for (int i = 0; i < 50; ++i) {
    auto lease = locks.try_lock("held " + std::to_string(i), {.ttl = 1s});
    REQUIRE(lease);
    held.push_back(std::move(*lease));
  }
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      const auto end = Clock::now() + 2500ms;
      while (Clock::now() < end) {
        if (const auto lease = locks.try_lock("r " + std::to_string(caller)); !lease) std::abort();
        std::this_thread::sleep_for(1ms);
      }
    });
  for (std::thread& caller : callers) caller.join();
  for (const Lease& lease : held) CHECK(lease.state() == State::held);
}

TEST_CASE("a_max_hold_below_the_ttl_is_refused") {
  LocalNodes nodes{1};
  SingleNodeLock locks{endpoints(nodes)[0]};
  CHECK(locks.try_lock("r", {.ttl = 1s, .max_hold = 999ms}).code() == redlock::Errc::invalid_argument);
}
