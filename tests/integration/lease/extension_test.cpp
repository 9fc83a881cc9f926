// Extensions with all, most or few of the nodes, in time and too late.
#include <chrono>
#include <cstddef>
#include <string>
#include <system_error>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Errc;
using redlock::Lease;
using redlock::Redlock;
using redlock::Release;
using redlock::State;

/// A lease on "r" that every node has granted.
Lease lease_everywhere(Redlock& locks, Observers& servers, redlock::Duration ttl, bool fencing = true) {
  reach_all(locks, servers);
  auto lease = locks.try_lock("r", {.ttl = ttl, .fencing = fencing, .renewal = redlock::Renewal::none});
  REQUIRE(lease);
  const auto all = static_cast<int>(servers.size());
  REQUIRE(eventually([&] { return servers.holding("r", lease->owner_value()) == all; }));
  return std::move(*lease);
}

}  // namespace

TEST_CASE("an_extension_restores_the_full_ttl_of_the_copies") {
  LocalNodes nodes{5};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Lease lease = lease_everywhere(locks, servers, 20s);
  servers.command({"PEXPIRE", "r", "5000"});
  const auto before = lease.deadline();
  REQUIRE(lease.extend());
  CHECK(lease.deadline() > before);
  CHECK(lease.state() == State::held);
  CHECK(eventually([&] {
    bool prolonged = true;
    for (auto& server : servers) prolonged = prolonged && server.pttl("r") > 10000;
    return prolonged;
  }));
  for (auto& server : servers) CHECK(server.pttl("r") <= 20000);
}

TEST_CASE("an_extension_never_shortens_a_ttl_or_the_deadline") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Lease lease = lease_everywhere(locks, servers, 10s);
  servers.command({"PEXPIRE", "r", "60000"});
  auto latest = lease.deadline();
  for (int i = 0; i < 10; ++i) {
    REQUIRE(lease.extend());
    CHECK(lease.deadline() >= latest);
    latest = lease.deadline();
  }
  for (auto& server : servers) CHECK(server.pttl("r") > 30000);
}

TEST_CASE("an_extension_needs_a_majority_and_no_more") {
  LocalNodes nodes{5};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Lease lease = lease_everywhere(locks, servers, 20s);
  nodes.kill(0);
  nodes.pause(1);
  const auto before = lease.deadline();
  REQUIRE(lease.extend());
  CHECK(lease.deadline() > before);
}

TEST_CASE("an_extension_without_a_majority_leaves_the_lease_in_doubt_with_its_deadline") {
  LocalNodes nodes{5};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), {.node_timeout = 100ms}};
  Lease lease = lease_everywhere(locks, servers, 60s);
  nodes.kill(0);
  nodes.pause(1);
  nodes.pause(2);
  const auto before = lease.deadline();
  std::error_code ec;
  CHECK_FALSE(lease.extend(ec));
  CHECK(ec == Errc::no_quorum);
  CHECK_FALSE(lease.extend());
  CHECK(lease.state() == State::in_doubt);
  CHECK(lease.valid());
  CHECK(lease.deadline() == before);
  CHECK(lease.remaining() > 0ns);

  nodes.resume(1);
  nodes.resume(2);
  REQUIRE(eventually([&] { return lease.extend(); }));
  CHECK(lease.state() == State::held);
  CHECK(lease.deadline() > before);
  CHECK(lease.release() == Release::released);
}

TEST_CASE("a_lease_in_doubt_is_lost_at_its_old_deadline") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), {.node_timeout = 50ms}};
  Lease lease = lease_everywhere(locks, servers, 1s);
  nodes.pause(1);
  nodes.pause(2);
  const auto deadline = lease.deadline();
  while (lease.valid()) CHECK_FALSE(lease.extend());
  CHECK(Clock::now() >= deadline);
  CHECK(lease.deadline() == deadline);
  CHECK(lease.state() == State::lost);

  nodes.resume(1);
  nodes.resume(2);
  std::error_code ec;
  CHECK_FALSE(lease.extend(ec));
  CHECK(ec == Errc::lost);
  CHECK(eventually([&] { return servers.empty() == 3; }));
}

TEST_CASE("an_extension_after_the_deadline_is_refused_even_if_the_copies_exist") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), {.drift = 19s}};  // so the deadline is long before the copies expire
  Lease lease = lease_everywhere(locks, servers, 20s);
  servers.command({"PEXPIRE", "r", "60000"});
  REQUIRE(eventually([&] { return !lease.valid(); }));
  REQUIRE(servers.holding("r", lease.owner_value()) == 3);
  CHECK_FALSE(lease.extend());
  CHECK(lease.state() == State::lost);
  CHECK(eventually([&] { return servers.empty() == 3; }));  // the copies were released
}

TEST_CASE("deleting_the_copies_on_a_majority_loses_the_lease_and_its_release_deletes_the_rest") {
  LocalNodes nodes{5};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Lease lease = lease_everywhere(locks, servers, 60s);
  for (const std::size_t node : {0U, 2U, 4U}) CHECK(servers[node].del("r"));
  std::error_code ec;
  CHECK_FALSE(lease.extend(ec));
  CHECK(ec == Errc::lost);
  CHECK(lease.state() == State::lost);
  CHECK_FALSE(lease.valid());
  CHECK(lease.remaining() == 0ns);
  CHECK_FALSE(lease.extend());            // the loss is final
  static_cast<void>(locks.inspect("r"));  // so the nodes have executed what was sent before
  CHECK(servers.holding("r", lease.owner_value()) == 2);
  CHECK(lease.release() == Release::already_lost);
  CHECK(eventually([&] { return servers.empty() == 5; }));
}

TEST_CASE("an_extension_with_a_majority_restores_the_copies_deleted_on_a_minority") {
  LocalNodes nodes{5};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Lease lease = lease_everywhere(locks, servers, 60s, GENERATE(true, false));
  for (const std::size_t node : {1U, 3U}) CHECK(servers[node].del("r"));
  REQUIRE(lease.extend());
  CHECK(lease.state() == State::held);
  CHECK(eventually([&] { return servers.holding("r", lease.owner_value()) == 5; }));
  for (const std::size_t node : {1U, 3U}) CHECK(servers[node].pttl("r") > 50'000);
  CHECK(lease.release() == Release::released);
  CHECK(eventually([&] { return servers.empty() == 5; }));
}

TEST_CASE("a_node_restarted_empty_gets_copy_and_counter_back_and_counts_two_rounds_later") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Lease lease = lease_everywhere(locks, servers, 60s);
  nodes.restart_empty(0);
  REQUIRE(eventually([&] { return locks.inspect("r")[0].status == redlock::NodeStatus::quarantined; }));
  REQUIRE(lease.extend());
  REQUIRE(eventually([&] { return RawClient{nodes.port(0)}.get("r") == lease.owner_value(); }));
  CHECK(RawClient{nodes.port(0)}.get("redlock:f:{r}") == std::to_string(lease.fencing_token().value()));
  nodes.pause(2);
  CHECK_FALSE(lease.extend());
  CHECK(lease.state() == State::in_doubt);
  nodes.resume(2);
  REQUIRE(eventually([&] { return lease.extend(); }));
  nodes.pause(2);
  CHECK(lease.extend());
  CHECK(lease.state() == State::held);
  nodes.resume(2);
}

TEST_CASE("a_copy_taken_by_another_owner_is_left_alone") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Lease lease = lease_everywhere(locks, servers, 60s, GENERATE(true, false));
  servers[1].command({"SET", "r", "somebody"});
  for (int i = 0; i < 3; ++i) REQUIRE(lease.extend());
  CHECK(lease.release() == Release::released);
  REQUIRE(eventually([&] { return servers.empty() == 2; }));
  CHECK(servers[1].get("r") == "somebody");
}

TEST_CASE("a_lease_is_lost_when_a_majority_restarted_without_data") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Lease lease = lease_everywhere(locks, servers, 60s);
  nodes.restart_empty(0);
  nodes.restart_empty(1);
  REQUIRE(eventually([&] { return !lease.extend() && lease.state() == State::lost; }));
  Observers later{nodes};
  static_cast<void>(locks.inspect("r"));  // so the nodes have executed what was sent before
  CHECK(later.holding("r", lease.owner_value()) == 1);
  lease.release();
  CHECK(eventually([&] { return later.empty() == 3; }));
}
