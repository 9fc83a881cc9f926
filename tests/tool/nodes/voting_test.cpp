// redlock nodes --wait: waiting until all nodes vote.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/network/raw_client.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

namespace {

/// Marks new nodes.
void begin(const LocalNodes& nodes, redlock::Duration max_ttl = 60s) {
  redlock::Redlock locks{endpoints(nodes), {.max_ttl = max_ttl}};
  Observers servers{nodes};
  REQUIRE(
      eventually([&] { return is_granted(locks.try_lock("r", {.ttl = 1s})) && all_are_marked(servers); }));
}

std::size_t lines_with(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

/// The locks that were taken to try the nodes are gone.
bool is_clean(const LocalNodes& nodes) {
  return eventually([&] {
    for (int node = 0; node < nodes.size(); ++node)
      if (!RawClient{nodes.port(node)}.keys("*redlock-nodes*").empty()) return false;
    return true;
  });
}

/// Restarts so many of three nodes, and waits with `redlock nodes --wait` each time. Meanwhile a client that lives on and new
/// clients acquire locks, for which they need all nodes but the one that restarts. To measure how long that takes at most,
/// REDLOCK_RESTARTED_NODES says how many nodes there are, of which all are restarted.
void restart_one_after_the_other(int restarts, bool persist, bool durable) {
  const char* const measured = std::getenv("REDLOCK_RESTARTED_NODES");
  if (measured) restarts = std::stoi(measured);
  LocalNodes nodes{measured ? restarts : 3, {.persist = persist}};
  begin(nodes, 4s);
  std::vector<std::string> wait = tool({"nodes", "--wait", "--max-ttl", "4s"});
  if (durable) wait.emplace_back("--durable-nodes");
  const std::vector<std::string> urls = nodes.urls();
  std::atomic<int> waited_for{0};
  std::atomic<bool> is_over{false};
  std::jthread restarting{[&] {
    for (int node = 0; node < restarts; ++node) {
      nodes.kill(node);
      std::this_thread::sleep_for(500ms);
      persist ? nodes.restart_with_data(node) : nodes.restart_empty(node);
      if (Program{wait, {nodes_variable(urls)}}.wait().code == 0) ++waited_for;
    }
    is_over = true;
  }};
  const redlock::Options options{.durable_nodes = durable, .max_ttl = 4s};
  const auto connect = [&] { return redlock::Redlock{{urls.begin(), urls.end()}, options}; };
  redlock::Redlock living = connect();
  std::chrono::duration<double> longest{};
  int attempts = 0;
  const auto try_once = [&](redlock::Redlock& locks, const std::string& resource) {
    const auto begun = redlock::Clock::now();
    if (!is_granted(locks.try_lock_for(resource, 20s, {.ttl = 2s})))
      FAIL("denied");  // throws without a quorum
    ++attempts;
    longest = std::max<std::chrono::duration<double>>(longest, redlock::Clock::now() - begun);
  };
  for (int count = 0; !is_over; ++count) {
    redlock::Redlock fresh = connect();
    try_once(living, "s");
    try_once(fresh, "t" + std::to_string(count));
    std::this_thread::sleep_for(20ms);
  }
  CHECK(waited_for == restarts);
  CAPTURE(attempts, longest.count());     // seconds; printed with -s
  CHECK(longest < (measured ? 1s : 3s));  // a majority that waits is missing for 4 s
}

}  // namespace

TEST_CASE("nodes_wait_returns_when_a_node_that_lost_its_data_votes_again") {
  LocalNodes nodes{5};
  begin(nodes, 3s);
  const auto restarted = redlock::Clock::now();
  nodes.restart_empty(1);
  const Program::Ending ending = run_tool({"nodes", "--wait", "--max-ttl", "3s"}, nodes.urls());
  CHECK(ending.code == 0);
  CHECK(redlock::Clock::now() - restarted >= 3s);
  CHECK(lines_with("  votes\n", ending.output) == 5);
  CHECK_THAT(ending.errors, contains("redlock: waiting for\n  " + nodes.url(1) + ": quarantined ("));
  CHECK(is_clean(nodes));
  // The others are not needed.
  for (const int node : {3, 4}) nodes.kill(node);
  CHECK(run_tool({"run", "-n", "--ttl", "1s", "--max-ttl", "3s", "r", "--", "true"}, nodes.urls()).code == 0);
}

TEST_CASE("nodes_wait_marks_new_nodes_and_leaves_nothing_else") {
  LocalNodes nodes{3};
  const Program::Ending ending = run_tool({"nodes", "--wait"}, nodes.urls());
  CHECK(ending.code == 0);
  CHECK(is_clean(nodes));
}

TEST_CASE("nodes_wait_waits_for_a_node_that_is_down") {
  LocalNodes nodes{3, {.persist = true}};
  const std::vector<std::string> durable = {"nodes", "--wait", "--durable-nodes"};
  begin(nodes);
  nodes.kill(1);
  Program waiting{tool(durable), {nodes_variable(nodes.urls())}};
  const std::string missing = "redlock: waiting for\n  " + nodes.url(1) + ": unreachable (";
  REQUIRE(eventually([&] { return waiting.errors().find(missing) != std::string::npos; }));
  CHECK(waiting.is_running());
  const auto restarted = redlock::Clock::now();
  nodes.restart_with_data(1);
  CHECK(waiting.wait().code == 0);
  CHECK(redlock::Clock::now() - restarted >= 2s);  // other clients have had time to reconnect
}

TEST_CASE("nodes_wait_gives_up_after_its_timeout") {
  LocalNodes nodes{3};
  begin(nodes);
  nodes.kill(2);
  const Program::Ending ending = run_tool({"nodes", "--wait", "--timeout", "500ms"}, nodes.urls());
  CHECK(ending.code == 69);
  CHECK_THAT(ending.output, contains(nodes.url(2) + "  unreachable  Connection refused\n"));
}

TEST_CASE("nodes_wait_gives_up_at_once_if_the_nodes_vote_only_after_its_timeout") {
  LocalNodes nodes{3};
  Program waiting{
      tool({"nodes", "--wait", "--timeout", "5m", "--restart-guard", "strict", "--max-ttl", "10m"}),
      {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return !waiting.is_running(); }));
  CHECK(waiting.wait().code == 69);
  CHECK(eventually([&] { return Observers{nodes}.having("redlock:quarantine") == 3; }));
}

TEST_CASE("nodes_reports_wrong_usage_and_configuration") {
  LocalNodes nodes{1, {.password = "open sesame"}};
  CHECK(run_tool({"nodes", "--timeout", "1s"}, nodes.urls()).code == 64);
  CHECK(run_tool({"nodes", "--", "true"}, nodes.urls()).code == 64);
  CHECK(run_tool({"nodes", "r"}, nodes.urls()).code == 64);
  const std::string url = "redis://127.0.0.1:" + std::to_string(nodes.port(0));
  CHECK(run_tool({"nodes"}, {url}).code == 2);
  CHECK(run_tool({"nodes", "--wait"}, {url}).code == 64);
}

TEST_CASE("locks_can_be_had_while_nodes_without_persistence_restart_one_after_the_other_with_nodes_wait") {
  restart_one_after_the_other(3, false, false);  // all, so that none has its old data in the end
}

TEST_CASE("locks_can_be_had_while_nodes_with_persistence_restart_one_after_the_other_with_nodes_wait") {
  restart_one_after_the_other(2, true, false);
}

TEST_CASE("locks_can_be_had_while_durable_nodes_restart_one_after_the_other_with_nodes_wait") {
  restart_one_after_the_other(2, true, true);
}
