// One server under several names, or two servers with one run_id: it votes once.
#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "integration/support/node_reports.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/refusal.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/network/proxy.hpp"
#include "support/recording_observer.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Endpoint;
using redlock::Errc;
using redlock::Error;
using redlock::NodeReport;
using redlock::NodeStatus;
using redlock::Options;
using redlock::Redlock;
using redlock::Release;

/// The name of the server `node` of another kind than its URL.
std::string second_name(const LocalNodes& nodes, const std::string& kind, int node = 0) {
  const std::string port = std::to_string(nodes.port(node));
  if (kind == "name") return "redis://localhost:" + port;
  if (kind == "socket") return "unix://" + nodes.socket_path(node);
  return "redis://127.0.0.1:" + port + "/1";  // another database of the same server
}

/// The first server under two names, and two other servers.
std::vector<Endpoint> one_twice(const LocalNodes& nodes, const std::string& second) {
  return {nodes.url(0), second, nodes.url(1), nodes.url(2)};
}

/// Without the guard, which waits for all nodes of a new deployment.
Options unguarded() {
  return {.connect_timeout = 20s, .node_timeout = 5s, .restart_guard = redlock::RestartGuard::off};
}

}  // namespace

TEST_CASE("a_server_under_two_names_votes_once_and_the_others_decide") {
  const std::string kind = GENERATE("name", "socket", "db");
  CAPTURE(kind);
  LocalNodes nodes{2};
  // Two servers under three names: both are a majority of three.
  Redlock locks{{nodes.url(0), second_name(nodes, kind), nodes.url(1)}, unguarded()};
  for (int i = 0; i < 3; ++i) {
    auto lease = locks.try_lock("r", {.ttl = 60s});
    REQUIRE(lease);
    CHECK(lease->extend());
    CHECK(lease->release() == Release::released);
  }
  const std::vector<NodeReport> reports = locks.inspect("r");
  CHECK(count(reports, NodeStatus::same_node) == 1);
  CHECK(count(reports, NodeStatus::free) == 2);
  const bool first = reports[0].status == NodeStatus::same_node;
  CHECK(reports[first ? 0 : 1].message ==
        "the same server as " + reports[first ? 1 : 0].node + ", which votes");
  CHECK_FALSE(locks.inspect("r")[first ? 1 : 0].status == NodeStatus::same_node);  // it stays the same
}

TEST_CASE("a_server_that_reports_the_run_id_of_one_that_votes_prevents_no_lock") {
  const bool guarded = GENERATE(true, false);
  const bool is_faster = guarded && GENERATE(true, false);
  CAPTURE(guarded, is_faster);
  LocalNodes nodes{3};
  Redlock first{endpoints(nodes)};
  { REQUIRE(is_granted(first.try_lock("r"))); }  // the nodes get their markers
  Observers servers{nodes};
  REQUIRE(eventually([&] { return servers.having("redlock:node") == 3; }));
  const std::string own = servers[2].info("run_id").value();
  const std::string false_one = servers[0].info("run_id").value();
  Proxy in_info{nodes.port(2)};
  in_info.replace("run_id:" + own, "run_id:" + false_one);
  Proxy impostor{in_info.port()};  // also in the reply about the marker, but not in the marker
  impostor.replace("$40\r\n" + own, "$40\r\n" + false_one);
  Proxy real{nodes.port(0)};
  Proxy& slower = is_faster ? real : impostor;
  slower.stall(true);
  Redlock locks{{real.url(), nodes.url(1), impostor.url()},
                guarded ? Options{.connect_timeout = is_faster ? 1s : 20s, .node_timeout = 5s} : unguarded()};
  // Without a marker of its own the impostor does not vote for the other server either.
  CHECK(is_granted(locks.try_lock("r")) == !is_faster);
  slower.stall(false);
  REQUIRE(eventually([&] {
    static_cast<void>(locks.try_lock("r"));
    return locks.inspect("r")[2].status == NodeStatus::same_node;
  }));
  for (int i = 0; i < 20; ++i) {
    auto lease = locks.try_lock("r", {.ttl = 60s});
    REQUIRE(lease);
    CHECK(lease->extend());
    CHECK(lease->release() == Release::released);
  }
  CHECK(count(locks.inspect("r"), NodeStatus::free) == 2);
}

TEST_CASE("a_server_under_two_names_is_not_a_majority") {
  LocalNodes nodes{2};
  Redlock locks{{nodes.url(0), second_name(nodes, "db"), nodes.url(1)}, unguarded()};
  REQUIRE(is_granted(locks.try_lock("r")));
  nodes.kill(1);
  const Error error = error_of([&] { (void)locks.try_lock("r").value(); });
  CHECK(error.code() == Errc::no_quorum);
  CHECK(count(error.nodes(), NodeStatus::same_node) == 1);
  CHECK_THAT(error.what(), contains("1 of 3 nodes voted, 2 needed"));
  CHECK_THAT(error.what(), contains("same node (the same server as "));
}

TEST_CASE("names_that_leave_too_few_servers_for_a_majority_are_a_configuration_error") {
  LocalNodes nodes{1};
  Redlock locks{{nodes.url(0), second_name(nodes, "name"), second_name(nodes, "db")}, unguarded()};
  const std::error_code ec = locks.lock("r").code();  // a waiting call ends, too
  CHECK(ec == Errc::misconfigured);
  const Error error = error_of([&] { (void)locks.try_lock("r").value(); });
  CHECK(error.code() == Errc::misconfigured);
  CHECK(count(error.nodes(), NodeStatus::same_node) == 2);
}

TEST_CASE("the_second_name_votes_when_the_first_one_leads_nowhere_any_more") {
  LocalNodes nodes{2};
  Proxy first{nodes.port(0)};
  Proxy second{nodes.port(0)};
  second.set_delay(0ms, 200ms);  // so that the first name has the vote
  Redlock locks{{first.url(), second.url(), nodes.url(1)}, unguarded()};
  REQUIRE(is_granted(locks.try_lock("r")));
  CHECK(eventually([&] { return locks.inspect("r")[1].status == NodeStatus::same_node; }));
  CHECK(locks.inspect("r")[0].status == NodeStatus::free);
  second.set_delay(0ms, 0ms);
  first.refuse(true);
  first.cut();
  CHECK(eventually([&] { return is_granted(locks.try_lock("r")); }));
  CHECK(locks.inspect("r")[1].status == NodeStatus::free);
  first.refuse(false);
  CHECK(eventually([&] { return locks.inspect("r")[0].status == NodeStatus::same_node; }));
  CHECK(locks.inspect("r")[1].status == NodeStatus::free);
}

TEST_CASE("the_restart_guard_admits_marked_nodes_of_which_one_has_two_names") {
  LocalNodes nodes{3};
  const Options patient{.connect_timeout = 20s, .node_timeout = 5s};
  {
    Redlock right_list{endpoints(nodes), patient};
    REQUIRE(is_granted(right_list.try_lock("r")));  // marks the nodes
    Observers servers{nodes};
    REQUIRE(eventually([&] {
      return std::all_of(servers.begin(), servers.end(),
                         [](RawClient& server) { return server.get("redlock:node").has_value(); });
    }));
  }
  Redlock locks{{nodes.url(0), second_name(nodes, "name"), nodes.url(1)}, patient};
  CHECK(is_granted(locks.try_lock("r")));
}

TEST_CASE("the_observer_learns_once_that_a_node_is_a_second_name") {
  LocalNodes nodes{2};
  const auto observer = std::make_shared<RecordingObserver>();
  Options options = unguarded();
  options.observer = observer;
  Redlock locks{{nodes.url(0), second_name(nodes, "name"), nodes.url(1)}, options};
  for (int i = 0; i < 3; ++i) REQUIRE(is_granted(locks.try_lock("r")));
  const auto reports = [&] {
    const auto all = observer->nodes();
    return std::count_if(all.begin(), all.end(), [](const redlock::Observer::Node& node) {
      return node.state == redlock::Observer::NodeState::down && node.trouble == NodeStatus::same_node;
    });
  };
  CHECK(eventually([&] { return reports() == 1; }));
}

TEST_CASE("a_second_name_leaves_nothing_on_the_server") {
  const std::string kind = GENERATE("name", "socket", "db");
  CAPTURE(kind);
  LocalNodes nodes{3};
  Redlock locks{one_twice(nodes, second_name(nodes, kind)), unguarded()};
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(locks.try_lock("r", {.ttl = 60s}));
  }
  Observers servers{nodes};
  CHECK(eventually([&] { return servers.empty() == 3; }));
  servers[0].command({"SELECT", "1"});
  CHECK(eventually([&] { return servers[0].locks().empty(); }));
}

TEST_CASE("a_second_name_detected_late_keeps_no_copy_after_the_lease") {
  LocalNodes nodes{3};
  Proxy slow{nodes.port(0)};
  slow.set_delay(0ms, 500ms);
  Options options = unguarded();
  options.node_timeout = 20s;
  Redlock locks{one_twice(nodes, slow.url() + "/1"), options};
  {
    const auto lease = locks.try_lock("r", {.ttl = 60s});
    REQUIRE(lease);  // from three servers
    REQUIRE(eventually([&] { return slow.late(500ms) > 0; }));
  }
  Observers servers{nodes};
  CHECK(eventually([&] { return servers.empty() == 3; }));
  servers[0].command({"SELECT", "1"});
  CHECK(eventually([&] { return servers[0].locks().empty(); }));
}
