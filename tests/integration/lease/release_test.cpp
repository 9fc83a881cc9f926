// The results of releases, and their effect on the nodes.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Lease;
using redlock::Redlock;
using redlock::Release;
using redlock::RestartGuard;
using redlock::State;

struct Fixture {
  LocalNodes nodes{5};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), {.node_timeout = 200ms}};

  Fixture() { reach_all(locks, servers); }
  /// A lease on "r" that every node has granted.
  Lease lease() {
    auto got = locks.try_lock("r", {.ttl = 60s});
    REQUIRE(got);
    REQUIRE(eventually([&] { return servers.holding("r", got->owner_value()) == 5; }));
    return std::move(*got);
  }
};

}  // namespace

TEST_CASE("a_held_lease_is_released_on_all_nodes") {
  Fixture f;
  Lease lease = f.lease();
  CHECK(lease.release() == Release::released);
  CHECK(lease.state() == State::released);
  CHECK_FALSE(lease.valid());
  CHECK(lease.remaining() == 0ns);
  CHECK(eventually([&] { return f.servers.empty() == 5; }));
}

TEST_CASE("a_second_release_returns_the_same_result_and_contacts_no_node") {
  Fixture f;
  const std::uint64_t before = f.servers.calls("evalsha");
  Lease lease = f.lease();
  CHECK(lease.release() == Release::released);
  REQUIRE(
      eventually([&] { return f.servers.calls("evalsha") == before + 10; }));  // five grants, five releases
  CHECK(lease.release() == Release::released);
  const auto next =
      f.locks.try_lock("r", {.fencing = false});  // would follow any command of the second release
  REQUIRE(next);
  REQUIRE(
      eventually([&] { return f.servers.holding("r", next->owner_value()) == 5; }));  // not just a majority
  CHECK(f.servers.calls("evalsha") == before + 15);
}

TEST_CASE("a_release_after_the_deadline_returns_already_lost") {
  Fixture f;
  Lease lease = f.locks.lock("r", {.ttl = 50ms, .renewal = redlock::Renewal::none}).value();
  REQUIRE(eventually([&] { return !lease.valid(); }));
  CHECK(lease.release() == Release::already_lost);
}

TEST_CASE("a_release_of_copies_missing_on_a_majority_returns_already_lost") {
  Fixture f;
  Lease lease = f.lease();
  for (const std::size_t node : {0U, 1U, 2U}) f.servers[node].del("r");
  CHECK(lease.release() == Release::already_lost);
  CHECK(eventually([&] { return f.servers.empty() == 5; }));
}

TEST_CASE("a_release_of_copies_taken_by_another_owner_returns_already_lost") {
  Fixture f;
  Lease lease = f.lease();
  for (const std::size_t node : {0U, 1U, 2U}) f.servers[node].command({"SET", "r", "somebody"});
  CHECK(lease.release() == Release::already_lost);
  CHECK(eventually([&] { return f.servers.having("r") == 3; }));
  CHECK(f.servers.holding("r", "somebody") == 3);
}

TEST_CASE("an_unresponsive_minority_does_not_change_the_result_of_a_release") {
  Fixture f;
  Lease lease = f.lease();
  f.nodes.kill(0);
  f.nodes.pause(1);
  CHECK(lease.release() == Release::released);
}

TEST_CASE("a_release_with_a_dead_majority_returns_unknown") {
  Fixture f;
  Lease lease = f.lease();
  for (const int node : {0, 1, 2}) f.nodes.kill(node);
  CHECK(lease.release() == Release::unknown);
  CHECK(lease.release() == Release::unknown);
  Observers living{f.nodes, {3, 4}};
  CHECK(eventually([&] { return living.empty() == 2; }));
}

TEST_CASE("a_release_with_a_hung_majority_returns_unknown_and_completes_when_it_resumes") {
  Fixture f;
  Lease lease = f.lease();
  for (const int node : {0, 1, 2}) f.nodes.pause(node);
  CHECK(lease.release() == Release::unknown);
  for (const int node : {0, 1, 2}) f.nodes.resume(node);
  CHECK(eventually([&] { return f.servers.empty() == 5; }));
}

TEST_CASE("a_release_for_a_disconnected_node_is_delivered_when_it_is_back") {
  LocalNodes nodes{3, {.persist = true}};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  reach_all(locks, servers);
  auto lease = locks.try_lock("r", {.ttl = 60s});
  REQUIRE(lease);
  REQUIRE(eventually([&] { return servers.holding("r", lease->owner_value()) == 3; }));
  nodes.kill(2);
  // The client must notice the dead node before the release: a release that was sent is not sent again.
  REQUIRE(eventually([&] { return locks.inspect("r")[2].status == redlock::NodeStatus::unreachable; }));
  CHECK(lease->release() == Release::released);
  nodes.restart_with_data(2);
  Observers later{nodes};
  CHECK(eventually([&] { return later.empty() == 3; }));
}

namespace {

/// Has the servers close the client's connections some time after they were used.
void close_connections(Observers& servers) {
  std::this_thread::sleep_for(50ms);
  servers.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  std::this_thread::sleep_for(50ms);  // until the client's system knows that
}

}  // namespace

TEST_CASE("a_release_is_sent_on_new_connections_if_the_servers_have_closed_the_old_ones") {
  for (const RestartGuard guard : {RestartGuard::automatic, RestartGuard::off}) {
    LocalNodes nodes{3};
    Observers servers{nodes};
    Redlock locks{endpoints(nodes), {.restart_guard = guard}};
    reach_all(locks, servers);
    Lease lease = locks.lock("r", {.ttl = 60s}).value();
    close_connections(servers);
    lease.release();
    CHECK(eventually([&] { return servers.empty() == 3; }));
  }
}

TEST_CASE("a_single_node_lock_is_released_on_a_new_connection_if_the_server_has_closed_the_old_one") {
  LocalNodes nodes{1};
  Observers servers{nodes};
  redlock::SingleNodeLock locks{nodes.url(0)};
  Lease lease = locks.lock("r", {.ttl = 60s}).value();
  close_connections(servers);
  lease.release();
  CHECK(eventually([&] { return servers.empty() == 1; }));
}

TEST_CASE("a_client_that_is_destroyed_sends_releases_that_wait_for_new_connections") {
  for (const RestartGuard guard : {RestartGuard::automatic, RestartGuard::off}) {
    LocalNodes nodes{3};
    Observers servers{nodes};
    {
      Redlock locks{endpoints(nodes), {.restart_guard = guard}};
      reach_all(locks, servers);
      const Lease lease = locks.lock("r", {.ttl = 60s}).value();
      close_connections(servers);
    }
    CHECK(eventually([&] { return servers.empty() == 3; }));
  }
}

TEST_CASE("a_lease_going_out_of_scope_releases_its_lock") {
  Fixture f;
  { const Lease lease = f.lease(); }
  CHECK(eventually([&] { return f.servers.empty() == 5; }));
}

TEST_CASE("a_lease_destroyed_by_an_exception_releases_its_lock_and_the_exception_propagates") {
  Fixture f;
  const auto work = [&] {
    const Lease lease = f.lease();
    f.nodes.kill(0);
    throw 42;
  };
  CHECK_THROWS_AS(work(), int);
  Observers living{f.nodes, {1, 2, 3, 4}};
  CHECK(eventually([&] { return living.empty() == 4; }));
}
