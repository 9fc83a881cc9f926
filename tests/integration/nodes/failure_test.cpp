// Nodes that die or hang: the cost of locks meanwhile, the reports, and the return of the nodes.
#include <algorithm>
#include <array>
#include <chrono>
#include <set>
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

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Errc;
using redlock::Error;
using redlock::NodeStatus;
using redlock::Options;
using redlock::Redlock;
using redlock::Release;
using redlock::RestartGuard;

enum class Failure { dead, hung };

void fail(LocalNodes& nodes, int node, Failure how) {
  if (how == Failure::dead)
    nodes.kill(node);
  else
    nodes.pause(node);
}

/// Acquires, extends and releases a lock.
void cycle(Redlock& locks, const std::string& resource) {
  auto lease = locks.try_lock(resource);
  REQUIRE(lease);
  CHECK(lease->extend());
  CHECK(lease->release() == Release::released);
}

/// Whether all nodes grant a lock. Each call uses another resource, as a node that dies before it executes a release
/// comes back with the copy.
bool all_vote(Redlock& locks, Observers& servers) {
  static int number = 0;
  return all_grant(locks, servers, "vote/" + std::to_string(++number));
}

void check_has_a_line_for_each(const Error& error, const LocalNodes& nodes) {
  const std::string text = error.what();
  CHECK(error.code() == Errc::no_quorum);
  CHECK(std::count(text.begin(), text.end(), '\n') == nodes.size());
  REQUIRE(error.nodes().size() == static_cast<std::size_t>(nodes.size()));
  for (int node = 0; node < nodes.size(); ++node) {
    CHECK(error.nodes()[static_cast<std::size_t>(node)].node == nodes.url(node));
    CHECK_THAT(text, contains("\n  " + nodes.url(node) + ": "));
  }
}

enum class Back { resumed, empty, with_data };
constexpr std::array majority{0, 2, 4};

/// Fails a majority for so long that connections are given up and reconnects fail with growing pauses.
void lose_majority(LocalNodes& nodes, Redlock& locks, Back how) {
  for (const int node : majority) fail(nodes, node, how == Back::resumed ? Failure::hung : Failure::dead);
  std::set<NodeStatus> seen;
  const auto until = Clock::now() + 1500ms;
  while (Clock::now() < until) {
    const Error error = error_of([&] { (void)locks.try_lock("r").value(); });
    for (const auto& node : error.nodes()) seen.insert(node.status);
    std::this_thread::sleep_for(2ms);
  }
  CHECK(seen.count(how == Back::resumed ? NodeStatus::timed_out : NodeStatus::unreachable) == 1);
}

void bring_back(LocalNodes& nodes, Back how) {
  for (const int node : majority) {
    if (how == Back::resumed) nodes.resume(node);
    if (how == Back::empty) nodes.restart_empty(node);
    if (how == Back::with_data) nodes.restart_with_data(node);
  }
}

}  // namespace

TEST_CASE("a_dead_or_hung_minority_does_not_slow_locks_down") {
  const Failure how = GENERATE(Failure::dead, Failure::hung);
  const int gone = GENERATE(1, 2);
  CAPTURE(static_cast<int>(how), gone);
  LocalNodes nodes{5};
  // So long that a single wait for a hung node cannot be mistaken for a slow machine.
  Redlock locks{endpoints(nodes), Options{.node_timeout = 30s}};
  cycle(locks, "r");
  for (int node = 0; node < gone; ++node) fail(nodes, node, how);
  for (int i = 0; i < 20; ++i) CHECK(time_of([&] { cycle(locks, "r"); }) < 15s);
}

TEST_CASE("nodes_hung_before_the_first_connection_barely_delay_the_first_call") {
  LocalNodes nodes{5};
  nodes.pause(1);
  nodes.pause(3);
  Redlock locks{endpoints(nodes),
                Options{.connect_timeout = 30s, .node_timeout = 30s, .restart_guard = RestartGuard::off}};
  CHECK(time_of([&] { cycle(locks, "r"); }) < 15s);
}

TEST_CASE("a_hung_majority_is_no_quorum_within_the_node_timeout") {
  constexpr auto node_timeout = 250ms;
  LocalNodes nodes{5};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), Options{.node_timeout = node_timeout}};
  auto fastest = Clock::duration::max();
  for (int round = 0; round < 5; ++round) {
    REQUIRE(eventually([&] { return all_vote(locks, servers); }));
    for (const int node : majority) nodes.pause(node);
    const auto taken = time_of([&] {
      const Error error = error_of([&] { (void)locks.try_lock("r").value(); });
      check_has_a_line_for_each(error, nodes);
      CHECK(count(error.nodes(), NodeStatus::timed_out) == 3);
      CHECK(count(error.nodes(), NodeStatus::granted) == 2);
      CHECK_THAT(error.what(), contains("2 of 5 nodes voted, 3 needed"));
      CHECK_THAT(error.what(), contains("timed out (no answer within 250 ms)"));
    });
    CHECK(taken >= node_timeout);
    fastest = std::min(fastest, taken);
    for (const int node : majority) nodes.resume(node);
  }
  // The best of five, as a busy machine may delay some of them.
  CHECK(fastest <= node_timeout + slack);
}

TEST_CASE("a_dead_majority_is_no_quorum_within_the_node_timeout") {
  constexpr auto node_timeout = 100ms;
  LocalNodes nodes{5};
  Redlock locks{endpoints(nodes), Options{.node_timeout = node_timeout}};
  cycle(locks, "r");
  for (const int node : majority) nodes.kill(node);
  auto fastest = Clock::duration::max();
  for (int round = 0; round < 5; ++round) {
    const auto taken = time_of([&] {
      const Error error = error_of([&] { (void)locks.try_lock("r").value(); });
      check_has_a_line_for_each(error, nodes);
      CHECK(count(error.nodes(), NodeStatus::unreachable) +
                count(error.nodes(), NodeStatus::connection_lost) ==
            3);
    });
    fastest = std::min(fastest, taken);
  }
  CHECK(fastest <= node_timeout + slack);
  REQUIRE(eventually([&] {  // soon all reports have the reason
    return count(error_of([&] { (void)locks.try_lock("r").value(); }).nodes(), NodeStatus::unreachable) == 3;
  }));
  CHECK_THAT(error_of([&] { (void)locks.try_lock("r").value(); }).what(),
             contains("unreachable (Connection refused)"));
}

TEST_CASE("a_majority_hung_before_the_first_connection_is_no_quorum_after_the_connect_timeout") {
  constexpr auto connect_timeout = 100ms;
  LocalNodes nodes{5};
  for (const int node : majority) nodes.pause(node);
  auto fastest = Clock::duration::max();
  for (int round = 0; round < 5; ++round) {
    Redlock locks{endpoints(nodes), Options{.connect_timeout = connect_timeout, .node_timeout = 100ms}};
    fastest = std::min(fastest, time_of([&] {
                         const Error error = error_of([&] { (void)locks.try_lock("r").value(); });
                         check_has_a_line_for_each(error, nodes);
                         for (const int node : majority)
                           CHECK_THAT(error.what(), contains(nodes.url(node) + ": timed out (no connection"));
                       }));
  }
  CHECK(fastest <= connect_timeout + 100ms + slack);
}

TEST_CASE("returned_nodes_are_used_again_within_two_seconds") {
  const Back how = GENERATE(Back::resumed, Back::empty, Back::with_data);
  CAPTURE(static_cast<int>(how));
  LocalNodes nodes{5, {.persist = how == Back::with_data}};
  Redlock locks{endpoints(nodes), Options{.node_timeout = 100ms, .restart_guard = RestartGuard::off}};
  const auto survivor = locks.lock("survivor", {.ttl = 60s}).value();
  auto fastest = Clock::duration::max();
  // The best of three, as a busy machine may delay some of them.
  for (int round = 0; round < 3 && fastest > 2s + slack; ++round) {
    Observers servers{nodes};
    REQUIRE(eventually([&] { return all_vote(locks, servers); }));
    const int copies = servers.holding("survivor", survivor.owner_value());
    lose_majority(nodes, locks, how);
    bring_back(nodes, how);
    Observers later{nodes};  // the old connections are broken
    fastest =
        std::min(fastest, time_of([&] { REQUIRE(eventually([&] { return all_vote(locks, later); })); }));
    const int left = later.holding("survivor", survivor.owner_value());
    CHECK((how == Back::empty ? left <= 2 : left == copies));
  }
  CHECK(fastest <= 2s + slack);
}

TEST_CASE("a_briefly_hung_node_keeps_its_connection_and_votes_again") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), Options{.node_timeout = 20s}};
  REQUIRE(eventually([&] { return all_vote(locks, servers); }));
  nodes.pause(0);
  for (int i = 0; i < 20; ++i) cycle(locks, "r");
  nodes.resume(0);
  REQUIRE(eventually([&] { return all_vote(locks, servers); }));
  // One connection of the observer and one of the library on each node.
  CHECK(servers[0].info("total_connections_received") == servers[1].info("total_connections_received"));
  REQUIRE(eventually([&] { return servers.empty() == 3; }));
}
