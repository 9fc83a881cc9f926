// The longest ttl, which belongs to the nodes, and raising it under living clients.
#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/measure.hpp"
#include "integration/support/node_reports.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::Error;
using redlock::NodeReport;
using redlock::NodeStatus;
using redlock::Options;
using redlock::Redlock;
using redlock::RestartGuard;

Redlock client(const LocalNodes& nodes, std::chrono::milliseconds max_ttl = 60s) {
  return Redlock{endpoints(nodes), Options{.node_timeout = 2s, .max_ttl = max_ttl}};
}

/// Lets the nodes begin a deployment. Returns when all of them have their markers.
void begin(Redlock& locks, const LocalNodes& nodes, redlock::Duration ttl) {
  REQUIRE(is_granted(locks.try_lock("r", {.ttl = ttl})));
  Observers servers{nodes};
  REQUIRE(eventually([&] { return all_are_marked(servers); }));
}

std::string message_of(const Error& error) { return error.what(); }

}  // namespace

TEST_CASE("two_teams_with_different_max_ttl_use_the_same_nodes") {
  LocalNodes nodes{3};
  Redlock first = client(nodes, 30s);
  begin(first, nodes, 30s);
  Redlock second = client(nodes, 5min);
  { REQUIRE(is_granted(second.try_lock("r", {.ttl = 30s}))); }
  const Error error = error_of([&] { (void)second.try_lock("r", {.ttl = 31s}).value(); });
  CHECK(error.code() == Errc::misconfigured);
  CHECK_THAT(
      message_of(error),
      contains(
          "the ttl, with any lock_delay, is 31 s, but max_ttl of these nodes is 30 s; to raise it: redlock "
          "nodes set --max-ttl 31s"));
  // A majority decides. The third node may answer later.
  CHECK(count(error.nodes(), NodeStatus::ttl_too_long) >= 2);
  const Error delayed = error_of([&] { (void)second.try_lock("r", {.ttl = 25s, .lock_delay = 6s}).value(); });
  CHECK_THAT(message_of(delayed),
             contains("the ttl, with any lock_delay, is 31 s, but max_ttl of these nodes is 30 s"));
  CHECK(eventually([&] { return Observers{nodes}.having("r") == 0; }));
}

TEST_CASE("clients_that_begin_at_the_same_time_with_different_max_ttl_agree") {
  for (int round = 0; round < 5; ++round) {
    LocalNodes nodes{5};
    std::vector<std::jthread> threads;
    std::atomic<int> granted{0};
    for (const auto max_ttl : {30s, 60s, 90s, 120s})
      threads.emplace_back([&nodes, &granted, max_ttl] {
        Redlock locks = client(nodes, max_ttl);
        granted += is_granted(locks.try_lock_for("r", 20s, {.ttl = 1s})) ? 1 : 0;
      });
    threads.clear();
    CHECK(granted == 4);
    Observers servers{nodes};
    REQUIRE(eventually([&] { return all_are_marked(servers); }));
    const auto limit = [&](std::size_t node) {
      const std::string text = servers[node].get("redlock:node").value_or("");
      const std::size_t at = text.find("deployment=");
      return text.substr(at, text.find(" node=") - at);
    };
    CHECK(limit(0).find("max_ttl=") != std::string::npos);
    for (std::size_t node = 1; node < 5; ++node) CHECK(limit(node) == limit(0));
  }
}

TEST_CASE("a_raised_max_ttl_applies_to_living_clients_and_disturbs_no_lock") {
  LocalNodes nodes{5};
  Redlock locks = client(nodes);
  begin(locks, nodes, 30s);
  CHECK(error_of([&] { (void)locks.try_lock("long", {.ttl = 5min}).value(); }).code() == Errc::misconfigured);
  std::atomic<int> failures{0};
  std::atomic<int> acquired{0};
  std::jthread user{[&](const std::stop_token& stop) {
    for (; !stop.stop_requested(); std::this_thread::sleep_for(2ms)) {
      is_granted(locks.try_lock("r", {.ttl = 30s})) ? ++acquired : ++failures;
      static_cast<void>(locks.try_lock("long", {.ttl = 5min}));  // looks at the nodes again
    }
  }};
  Redlock operators = client(nodes, 5min);
  CHECK(operators.raise_max_ttl(5min) == 5min);
  { CHECK(is_granted(locks.try_lock_for("long", 10s, {.ttl = 5min}))); }
  user.request_stop();
  user.join();
  CHECK(failures == 0);
  CHECK(acquired > 10);
  CHECK(operators.raise_max_ttl(1min) == 5min);
}

TEST_CASE("a_node_that_loses_its_data_after_a_raise_waits_for_the_longest_lock_under_any_client") {
  LocalNodes nodes{3};
  Redlock idle = client(nodes, 10s);  // knows the nodes from before the raise
  begin(idle, nodes, 5s);
  client(nodes).raise_max_ttl(5min);
  nodes.restart_empty(2);
  Observers servers{nodes};
  REQUIRE(eventually([&] {
    REQUIRE(is_granted(idle.try_lock("r", {.ttl = 5s})));
    return servers[2].pttl("redlock:quarantine") > 0;
  }));
  CHECK(servers[2].pttl("redlock:quarantine") > 290'000);
  CHECK(servers[2].get("redlock:node").value_or("").find(" max_ttl=300000 node=") != std::string::npos);
}

TEST_CASE("the_strict_guard_needs_a_max_ttl_that_covers_that_of_the_nodes") {
  LocalNodes nodes{3};
  Redlock locks = client(nodes, 30s);
  begin(locks, nodes, 30s);
  locks.raise_max_ttl(2min);
  Redlock strict{endpoints(nodes), Options{.restart_guard = RestartGuard::strict}};
  const Error error = error_of([&] { (void)strict.try_lock("r").value(); });
  CHECK(error.code() == Errc::misconfigured);
  CHECK_THAT(message_of(error),
             contains("locks on these nodes may live for 120 s, but max_ttl of this client is 60 s"));
  Redlock covering{endpoints(nodes), Options{.restart_guard = RestartGuard::strict, .max_ttl = 2min}};
  CHECK(is_granted(covering.try_lock("r")));
}

TEST_CASE("raise_max_ttl_refuses_bad_values_and_a_client_without_restart_guard") {
  LocalNodes nodes{1};
  Redlock locks = client(nodes);
  CHECK_THAT(message_of(error_of([&] { locks.raise_max_ttl(9ms); })),
             contains("max_ttl is 9 ms; allowed: 10 ms"));
  CHECK(error_of([&] { locks.raise_max_ttl(366 * 24h); }).code() == Errc::invalid_argument);
  Redlock unguarded{endpoints(nodes), Options{.restart_guard = RestartGuard::off}};
  CHECK_THAT(message_of(error_of([&] { unguarded.raise_max_ttl(5min); })), contains("restart_guard is off"));
}
