// Ownership of a lock on the servers: late owners, other clients, failed attempts.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "integration/support/all_nodes.hpp"
#include "integration/support/node_reports.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::Lease;
using redlock::NodeStatus;
using redlock::Redlock;
using redlock::Release;
using redlock::State;

/// A lost lease whose copies have expired on the servers.
Lease expired_lease(Redlock& locks, Observers& servers) {
  Lease lease = locks.lock("r", {.ttl = 200ms, .renewal = redlock::Renewal::none})
                    .value();  // with so short a ttl the first try may fail
  REQUIRE(eventually([&] { return !lease.valid() && servers.having("r") == 0; }));
  CHECK(lease.state() == State::lost);
  CHECK(lease.remaining() == 0ns);
  return lease;
}

/// A client whose lease on "r" has ended, and a successor that holds the lock on all nodes.
struct LateOwner {
  LocalNodes nodes{5};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Redlock others{endpoints(nodes)};
  Lease late = expired_lease(locks, servers);
  Lease successor = others.lock("r", {.ttl = 60s}).value();

  LateOwner() {
    REQUIRE(eventually([&] { return servers.holding("r", successor.owner_value()) == 5; }));
  }
  /// Waits for an inspection, which each node answers after the earlier commands of the late owner.
  void wait_until_all_commands_are_executed() {
    REQUIRE(eventually([&] {
      const auto reports = locks.inspect("r");
      return std::all_of(reports.begin(), reports.end(), votes);
    }));
  }
};

}  // namespace

TEST_CASE("a_late_release_leaves_the_successor_alone") {
  LateOwner s;
  CHECK(s.late.release() == Release::already_lost);
  s.wait_until_all_commands_are_executed();
  CHECK(s.servers.holding("r", s.successor.owner_value()) == 5);
}

TEST_CASE("a_late_extension_leaves_the_successor_alone") {
  LateOwner s;
  s.servers.command({"PEXPIRE", "r", "30000"});
  const auto before = s.late.deadline();
  std::error_code ec;
  CHECK_FALSE(s.late.extend(ec));
  CHECK(ec == Errc::lost);
  CHECK_FALSE(s.late.extend());
  CHECK(s.late.deadline() == before);
  CHECK(s.late.state() == State::lost);
  s.wait_until_all_commands_are_executed();
  CHECK(s.servers.holding("r", s.successor.owner_value()) == 5);
  for (auto& server : s.servers) CHECK(server.pttl("r") <= 30000);
}

TEST_CASE("a_lease_destroyed_after_its_deadline_leaves_the_successor_alone") {
  LateOwner s;
  { const Lease gone{std::move(s.late)}; }
  s.wait_until_all_commands_are_executed();
  CHECK(s.servers.holding("r", s.successor.owner_value()) == 5);
}

TEST_CASE("a_lease_replaced_by_assignment_is_released_and_the_assigned_one_stays_held") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  auto one = locks.try_lock("one");
  auto two = locks.try_lock("two");
  REQUIRE((one && two));
  const std::string owner = two->owner_value();
  *one = std::move(*two);
  CHECK(eventually([&] { return servers.having("one") == 0; }));
  CHECK(eventually([&] { return servers.holding("two", owner) == 3; }));
}

TEST_CASE("a_plain_client_and_the_library_exclude_each_other") {
  LocalNodes nodes{5};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};

  for (auto& server : servers) REQUIRE(server.command({"SET", "r", "somebody", "NX", "PX", "60000"}) == "OK");
  CHECK(locks.try_lock("r").code() == Errc::held);
  CHECK(locks.try_lock_for("r", 500ms).is_held());
  CHECK(servers.holding("r", "somebody") == 5);
  for (const auto& report : locks.inspect("r")) {
    CHECK(report.status == NodeStatus::held);
    CHECK(report.owner == "somebody");
    CHECK((report.ttl && *report.ttl > 0ms && *report.ttl <= 60s));
  }

  servers.command({"DEL", "r"});
  const auto lease = locks.try_lock("r");
  REQUIRE(lease);
  REQUIRE(eventually([&] { return servers.holding("r", lease->owner_value()) == 5; }));
  for (auto& server : servers)
    CHECK(server.command({"SET", "r", "somebody", "NX", "PX", "60000"}) == "(nil)");
}

TEST_CASE("a_failed_attempt_leaves_nothing_on_any_node") {
  LocalNodes nodes{5};
  Observers servers{nodes};
  InspectableLock locks{endpoints(nodes)};
  reach_all(locks, servers);
  for (const std::size_t node : {0U, 1U, 2U}) servers[node].command({"SET", "r", "somebody", "PX", "600000"});
  for (int i = 0; i < 20; ++i) CHECK(locks.try_lock("r", {.ttl = 60s}).is_held());
  CHECK(locks.try_lock_for("r", 100ms, {.ttl = 60s}).is_held());
  REQUIRE(eventually([&] { return locks.pending() == 0; }));  // all nodes have executed all commands
  CHECK(servers.having("r") == 3);
  CHECK(servers.holding("r", "somebody") == 3);
  CHECK((servers[3].calls("del") > 20 && servers[4].calls("del") > 20));  // they did grant
}

TEST_CASE("an_attempt_without_a_quorum_leaves_nothing_on_the_nodes_that_granted") {
  LocalNodes nodes{5};
  Redlock locks{endpoints(nodes), {.restart_guard = redlock::RestartGuard::off}};
  for (const int node : {0, 1, 2}) nodes.kill(node);
  CHECK(locks.try_lock("r", {.ttl = 60s}).code() == Errc::no_quorum);
  Observers living{nodes, {3, 4}};
  CHECK(eventually([&] { return living.attempts() == 2 && living.empty() == 2; }));
}

TEST_CASE("every_attempt_has_its_own_owner_value") {
  LocalNodes nodes{1};
  Redlock locks{endpoints(nodes)};
  std::set<std::string> seen;
  for (int i = 0; i < 50; ++i) {
    const auto lease = locks.try_lock("r");
    REQUIRE(lease);
    CHECK(seen.insert(lease->owner_value().substr(0, 40)).second);
  }
}
