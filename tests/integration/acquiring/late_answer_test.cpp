// Answers and requests that arrive after the node timeout.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::NodeStatus;
using redlock::Redlock;
using redlock::Release;

constexpr auto node_timeout = 150ms;
// Longer than the node timeout, and shorter than the silence after which a connection is given up.
constexpr auto late = 400ms;

/// Five nodes behind proxies, and a connected client.
struct Fixture {
  LocalNodes nodes{5};
  Observers servers{nodes};
  Proxies proxies{nodes};
  Redlock locks{proxies.endpoints(), {.connect_timeout = 20s, .node_timeout = node_timeout}};

  Fixture() { reach_all(locks, servers); }

  void expect_no_quorum(const std::string& resource) {
    CHECK(locks.try_lock(resource, {.ttl = 60s}).code() == Errc::no_quorum);
  }
  [[nodiscard]] std::uint64_t connections() {
    std::uint64_t sum = 0;
    for (const auto& proxy : proxies) sum += proxy->counters().connections;
    return sum;
  }
};

}  // namespace

TEST_CASE("a_set_whose_answer_is_late_is_undone_by_the_release_behind_it") {
  Fixture f;
  const auto sets = f.servers.attempts();
  const auto connections = f.connections();
  f.proxies.set_delay(0ms, late);
  f.expect_no_quorum("r");
  REQUIRE(eventually([&] { return f.servers.attempts() == sets + 5; }));  // all of them were executed
  CHECK(eventually([&] { return f.servers.empty() == 5; }));
  REQUIRE(eventually([&] { return f.proxies.late(late) >= 5; }));
  CHECK(f.connections() == connections);  // on the same connections
}

TEST_CASE("a_set_executed_late_is_undone_by_the_release_behind_it") {
  Fixture f;
  const auto sets = f.servers.attempts();
  const auto connections = f.connections();
  f.proxies.set_delay(late, 0ms);
  f.expect_no_quorum("r");
  REQUIRE(eventually([&] { return f.servers.attempts() == sets + 5; }));
  CHECK(eventually([&] { return f.servers.empty() == 5; }));
  CHECK(f.proxies.late(late, Direction::to_server) >= 5);
  CHECK(f.connections() == connections);
}

TEST_CASE("a_late_grant_of_a_released_lease_is_undone") {
  Fixture f;
  const auto sets = f.servers[4].attempts();
  f.proxies[4].set_delay(late, 0ms);
  auto lease = f.locks.try_lock("r", {.ttl = 60s});
  REQUIRE(lease);
  CHECK(lease->release() == Release::released);
  REQUIRE(eventually([&] { return f.servers[4].attempts() == sets + 1; }));
  CHECK(eventually([&] { return f.servers.empty() == 5; }));
  CHECK(f.proxies[4].late(late, Direction::to_server) > 0);
}

TEST_CASE("a_late_grant_of_a_held_lease_adds_a_copy") {
  Fixture f;
  f.proxies[4].set_delay(late, 0ms);
  const auto lease = f.locks.try_lock("r", {.ttl = 60s});
  REQUIRE(lease);
  CHECK(eventually([&] { return f.servers.holding("r", lease->owner_value()) == 5; }));
}

TEST_CASE("late_answers_are_attributed_to_the_operations_that_asked") {
  Fixture f;
  f.servers.command({"SET", "taken", "somebody"});
  f.proxies.set_delay(0ms, late);
  f.expect_no_quorum("free");  // five grants are on their way
  f.proxies.set_delay(0ms, 0ms);
  // Grants must not be taken for answers about "taken", or denials for answers about "free".
  for (int i = 0; i < 20; ++i) {
    const std::error_code taken = f.locks.try_lock("taken").code();
    CHECK((taken == Errc::held || taken == Errc::no_quorum));
    const auto lease = f.locks.try_lock("free/" + std::to_string(i));
    CHECK(lease.code() != Errc::held);
    if (lease) CHECK(f.servers.holding("free/" + std::to_string(i), lease->owner_value()) >= 3);
  }
  CHECK(eventually([&] { return f.proxies.late(late) >= 5; }));
  CHECK(eventually([&] { return f.servers.having("free") == 0; }));
  CHECK(f.servers.holding("taken", "somebody") == 5);
}

TEST_CASE("a_late_release_on_a_slow_connection_does_not_release_a_later_lock") {
  Fixture f;
  f.proxies.set_delay(late, 0ms);
  f.expect_no_quorum("r");  // its SETs and releases arrive around the successor's SETs
  const auto successor = Redlock{endpoints(f.nodes)}.try_lock_for("r", 20s, {.ttl = 60s});
  REQUIRE(successor);
  f.proxies.set_delay(0ms, 0ms);
  // Requests on the slow connections are now answered after the late releases.
  REQUIRE(eventually([&] {
    const auto reports = f.locks.inspect("r");
    return std::all_of(reports.begin(), reports.end(),
                       [](const auto& report) { return report.status == NodeStatus::held; });
  }));
  CHECK(f.servers.holding("r", successor->owner_value()) == 5);
  CHECK(f.proxies.late(late, Direction::to_server) >= 5);
}

TEST_CASE("jitter_and_single_byte_writes_change_no_outcome") {
  Fixture f;
  for (std::size_t node = 0; node < 5; ++node) {
    f.proxies[node].single_bytes(true);
    f.proxies[node].set_jitter(3ms, node);
  }
  Redlock locks{f.proxies.endpoints(), {.connect_timeout = 20s, .node_timeout = 20s}};
  for (int i = 0; i < 10; ++i) {
    auto lease = locks.try_lock("r");
    REQUIRE(lease);
    CHECK(locks.try_lock("r").is_held());
    CHECK(lease->extend());
    CHECK(lease->release() == Release::released);
  }
  CHECK(eventually([&] { return f.servers.empty() == 5; }));
}
