// Nodes that lose their data, including locks that are still held.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/exclusion_checker.hpp"
#include "integration/support/measure.hpp"
#include "integration/support/node_reports.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Errc;
using redlock::Error;
using redlock::Lease;
using redlock::LockOptions;
using redlock::LockResult;
using redlock::NodeReport;
using redlock::NodeStatus;
using redlock::Options;
using redlock::Redlock;
using redlock::RestartGuard;

std::size_t voters(Redlock& locks) {
  const std::vector<NodeReport> reports = locks.inspect("r");
  return static_cast<std::size_t>(std::count_if(reports.begin(), reports.end(), votes));
}

/// Lets the nodes begin a deployment. Returns when all of them vote for this client.
void begin(Redlock& locks, redlock::Duration ttl = 30s) {
  REQUIRE(is_granted(locks.try_lock("first", {.ttl = ttl})));
  REQUIRE(eventually([&] { return voters(locks) == locks.inspect("r").size(); }));
}

}  // namespace

TEST_CASE("new_nodes_vote_without_quarantine") {
  LocalNodes nodes{5};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Redlock beside{endpoints(nodes)};
  std::jthread at_the_same_time{[&beside] { CHECK(is_granted(beside.try_lock("other"))); }};
  CHECK(is_granted(locks.try_lock("first")));
  at_the_same_time.join();
  REQUIRE(eventually([&] { return all_are_marked(servers); }));
  CHECK_THAT(*servers[0].get("redlock:node"), Catch::Matchers::StartsWith("redlock 1 deployment=") &&
                                                  contains(" nodes=5 max_ttl=60000 node=") &&
                                                  contains(" run_id=" + *servers[0].info("run_id")));
}

TEST_CASE("a_node_restarted_without_data_votes_after_max_ttl_and_not_before") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), Options{.max_ttl = 2s}};
  const LockOptions brief{.ttl = 2s};
  begin(locks, brief.ttl);
  nodes.restart_empty(1);
  const Clock::time_point restarted = Clock::now();
  REQUIRE(eventually([&] {
    static_cast<void>(locks.try_lock("r", brief));
    return servers[1].pttl("redlock:quarantine") > 0;
  }));
  CHECK(servers[1].pttl("redlock:quarantine") <= 2022);
  const NodeReport report = locks.inspect("r")[1];
  CHECK(report.status == NodeStatus::quarantined);
  CHECK_THAT(report.message, contains("restarted ") && contains(" ago, votes again in "));
  REQUIRE(report.votes_in);
  CHECK(*report.votes_in > 0ms);
  CHECK(*report.votes_in <= 2023ms);
  REQUIRE(is_granted(locks.try_lock("r", brief)));  // from the majority

  // New clients do not restart the quarantine.
  while (Clock::now() < restarted + 1s) {
    Redlock newcomer{endpoints(nodes), Options{.max_ttl = 2s}};
    REQUIRE(is_granted(newcomer.try_lock("r", brief)));
  }
  REQUIRE(eventually([&] { return voters(locks) == 3; }, 10s));
  CHECK(Clock::now() >= restarted + 2s);
  // Now the restarted node is needed for a majority.
  nodes.kill(0);
  REQUIRE(eventually([&] { return is_granted(locks.try_lock("r", brief)); }));
}

TEST_CASE("a_majority_that_lost_its_data_is_no_quorum_with_a_reason_per_node") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  begin(locks);
  nodes.restart_empty(0);
  nodes.restart_empty(2);
  std::string text;
  REQUIRE(eventually([&] {
    const Error error = error_of([&] { (void)locks.try_lock("r").value(); });
    CHECK(error.code() == Errc::no_quorum);
    text = error.what();
    return error.nodes()[0].status == NodeStatus::quarantined &&
           error.nodes()[2].status == NodeStatus::quarantined &&
           text.find("votes again in 6") != std::string::npos;
  }));
  CHECK_THAT(text, contains("1 of 3 nodes voted, 2 needed; enough nodes vote again in 6"));
  CHECK_THAT(text, contains("wait, or let calls wait with node_wait"));
}

TEST_CASE("a_node_that_lost_its_data_while_it_ran_says_when_that_was_noticed") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  begin(locks);
  RawClient server{nodes.port(1)};
  REQUIRE(eventually([&] { return std::stoi(server.info("uptime_in_seconds").value_or("0")) >= 4; }));
  server.command({"FLUSHALL"});
  REQUIRE(eventually([&] {
    static_cast<void>(locks.try_lock("r"));
    return server.pttl("redlock:quarantine") > 0;
  }));
  CHECK_THAT(locks.inspect("r")[1].message,
             contains("restarted or lost its data, noticed ") && contains(" ago, votes again in "));
}

TEST_CASE("calls_wait_for_nodes_that_say_when_they_vote_again_for_as_long_as_they_are_told") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes), Options{.node_timeout = 1s, .max_ttl = 6s}};
  begin(locks, 3s);
  for (const int node : {0, 2}) nodes.restart_empty(node);
  const Clock::time_point restarted = Clock::now();
  const auto lost = [&] {
    const std::error_code ec = locks.try_lock("r", {.ttl = 1s}).code();
    return ec == Errc::no_quorum && locks.inspect("r")[2].votes_in.value_or(0ms) > 0ms;
  };
  REQUIRE(eventually(lost));
  CHECK(error_of([&] {
          (void)locks.try_lock_for("r", 60s, {.ttl = 1s, .node_wait = 100ms}).value();
        }).code() == Errc::no_quorum);
  CHECK(error_of([&] { (void)locks.try_lock("r", {.ttl = 1s, .node_wait = 0ms}).value(); }).code() ==
        Errc::no_quorum);
  CHECK(error_of([&] { (void)locks.try_lock_for("r", 0s, {.ttl = 1s, .node_wait = 60s}).value(); }).code() ==
        Errc::no_quorum);
  CHECK(Clock::now() - restarted < 6s);
  const auto lease = locks.try_lock("r", {.ttl = 1s, .node_wait = 60s});
  CHECK(lease);
  CHECK(Clock::now() - restarted >= 6s);
}

TEST_CASE("a_node_that_loses_its_data_under_a_connection_is_waited_for_as_well") {
  LocalNodes nodes{1};
  Redlock locks{endpoints(nodes), Options{.node_timeout = 1s, .max_ttl = 2s}};
  { REQUIRE(is_granted(locks.try_lock("first", {.ttl = 2s}))); }
  Observers{nodes}[0].command({"FLUSHALL"});
  CHECK(is_granted(locks.try_lock("r", {.ttl = 2s, .node_wait = 60s})));
}

TEST_CASE("a_server_refuses_a_mark_that_is_a_second_late") {
  LocalNodes nodes{1};
  Observers servers{nodes};
  const auto mark = [&servers](std::string text, long long looked_at) {
    servers[0].command({"EVAL", std::string{redlock::core::mark_script}, "2", "redlock:node",
                        "redlock:quarantine", servers[0].get("redlock:node").value_or(""), std::move(text),
                        "60000", std::to_string(looked_at)});
  };
  const auto time = [] {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now())
        .time_since_epoch()
        .count();
  };
  mark("late", time() - 1'000'001);
  CHECK_FALSE(servers[0].get("redlock:node"));
  mark("from the future", time() + 60'000'000);
  CHECK_FALSE(servers[0].get("redlock:node"));
  CHECK(servers[0].pttl("redlock:quarantine") == -2);
  REQUIRE(eventually([&] {  // repeated, as a busy machine may need a second
    mark("in time", time());
    return servers[0].get("redlock:node") == "in time";
  }));
  CHECK(servers[0].pttl("redlock:quarantine") > 0);
}

// One client has found new nodes, and its marks are on their way. Meanwhile another one begins the deployment, a lock is taken
// on two nodes, and one of these loses its data.
TEST_CASE("a_delayed_mark_of_new_nodes_does_not_spare_a_flushed_node_its_quarantine") {
  static constexpr auto delay = 1500ms;
  bool was_delayed = false;
  for (int round = 0; round < 5 && !was_delayed; ++round) {  // a busy machine may be too slow
    LocalNodes nodes{3};
    Observers servers{nodes};
    Proxies slow{nodes};
    slow.set_delay(delay, 0ms);
    const auto delayed = [&slow](std::size_t node) { return slow[node].late(delay, Direction::to_server); };
    Redlock late{slow.endpoints(), Options{.connect_timeout = 20s, .node_timeout = 10s}};
    std::jthread marks{[&late] { static_cast<void>(late.try_lock("other", {.ttl = 60s})); }};
    REQUIRE(eventually([&] {
      for (std::size_t node = 0; node < 3; ++node)
        if (servers[node].calls("eval") < 2) return false;
      return true;
    }));
    const std::uint64_t looks = delayed(0);
    Redlock begins{endpoints(nodes)};
    const bool has_begun = is_granted(begins.try_lock("first"));
    Proxies proxies{nodes};
    proxies[2].refuse(true);
    Redlock holders{proxies.endpoints()};
    const Lease lease = holders.lock("r").value();
    servers[0].command({"FLUSHALL"});
    was_delayed = has_begun && delayed(0) == looks;
    REQUIRE(eventually([&] { return delayed(0) > looks; }));
    slow.set_delay(0ms, 0ms);

    Redlock newcomer{endpoints(nodes)};
    CHECK_FALSE(is_granted(newcomer.try_lock_for("r", 1s)));
    CHECK(lease.valid());
    CHECK(servers[0].pttl("redlock:quarantine") > 0);
  }
  CHECK(was_delayed);
}

TEST_CASE("new_nodes_that_wait_for_another_vote_as_soon_as_it_comes") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  nodes.kill(2);
  Redlock locks{endpoints(nodes)};
  CHECK(error_of([&] { (void)locks.try_lock("r").value(); }).code() == Errc::no_quorum);
  REQUIRE(eventually([&] {
    static_cast<void>(locks.try_lock("r"));
    return servers[0].pttl("redlock:quarantine") > 0 && servers[1].pttl("redlock:quarantine") > 0;
  }));
  nodes.restart_empty(2);
  REQUIRE(eventually([&] { return is_granted(locks.try_lock("r")); }, 20s));
  REQUIRE(eventually([&] { return voters(locks) == 3; }, 20s));
}

TEST_CASE("clients_that_poll_while_the_last_node_comes_agree_on_one_deployment") {
  // The quarantine is so short that nodes may begin without the last one just when it comes.
  static constexpr std::chrono::milliseconds short_ttl = 300ms;
  for (const auto after : {100ms, 550ms, 700ms, 850ms, 1000ms}) {
    CAPTURE(after.count());
    LocalNodes nodes{3};
    Observers servers{nodes};
    nodes.kill(2);
    std::vector<std::jthread> clients;
    for (int i = 0; i < 8; ++i)
      clients.emplace_back([&nodes](const std::stop_token& stop) {
        Redlock locks{endpoints(nodes), Options{.max_ttl = short_ttl}};
        while (!stop.stop_requested()) {
          static_cast<void>(locks.try_lock("r", {.ttl = 100ms}));
          std::this_thread::sleep_for(1ms);
        }
      });
    std::this_thread::sleep_for(after);
    nodes.restart_empty(2);
    servers[2] = RawClient{nodes.port(2)};
    Redlock locks{endpoints(nodes), Options{.max_ttl = short_ttl}};
    const auto begins_with = [&servers](std::size_t node) {
      return servers[node].get("redlock:node").value_or("").substr(0, 50);
    };
    CHECK(eventually([&] { return is_granted(locks.try_lock("own", {.ttl = 100ms})); }, 30s));
    CHECK(eventually(
        [&] {
          const std::string name = begins_with(0);
          return name.starts_with("redlock 1 deployment=") && name.find("none") == std::string::npos &&
                 begins_with(1) == name && begins_with(2) == name;
        },
        30s));
  }
}

TEST_CASE("a_marker_that_is_not_understood_on_one_new_node_does_not_block_the_others") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  const std::string deployment(3000, 'a');
  const std::string strange =
      "redlock 1 deployment=" + deployment + " nodes=3 max_ttl=1000 node=0123456789abcdef run_id=x";
  servers[0].command({"SET", "redlock:node", strange});
  Redlock locks{endpoints(nodes), Options{.max_ttl = 1s}};
  REQUIRE(eventually([&] { return is_granted(locks.try_lock("r", {.ttl = 1s})); }, 20s));
  CHECK(locks.inspect("r")[0].status == NodeStatus::other_deployment);
  CHECK(servers[0].get("redlock:node") == strange);
  for (const std::size_t node : {1U, 2U})
    CHECK(servers[node].get("redlock:node").value_or(deployment).find(deployment) == std::string::npos);
}

namespace {

/// Makes `replica` a replica of the other node and a master again, with that one's data.
void replicate_for_a_moment(LocalNodes& nodes, int master, int replica) {
  RawClient{nodes.port(master)}.command({"CONFIG", "SET", "repl-diskless-sync-delay", "0"});
  RawClient server{nodes.port(replica)};
  server.command({"REPLICAOF", "127.0.0.1", std::to_string(nodes.port(master))});
  REQUIRE(eventually([&] { return server.info("master_link_status") == "up"; }));
  server.command({"REPLICAOF", "NO", "ONE"});
}

}  // namespace

// Its connections do not end, its run_id stays the same, and it has a marker of the deployment: that of the other node.
TEST_CASE("a_node_that_was_a_replica_of_another_one_for_a_moment_does_not_vote") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  begin(locks);
  Proxies proxies{nodes};
  proxies[0].refuse(true);
  Redlock holders{proxies.endpoints()};
  const Lease lease = holders.lock("r").value();
  RawClient replica{nodes.port(2)};
  REQUIRE(eventually([&] { return replica.get("r") == lease.owner_value(); }));
  replicate_for_a_moment(nodes, 0, 2);
  REQUIRE_FALSE(replica.get("r"));

  for (const bool fencing : {true, false}) CHECK_FALSE(is_granted(locks.try_lock("r", {.fencing = fencing})));
  CHECK(eventually([&] { return locks.inspect("r")[2].status == NodeStatus::quarantined; }));
  CHECK(lease.valid());
}

TEST_CASE("a_lock_is_not_adopted_twice_although_a_node_was_a_replica_for_a_moment") {
  for (const bool fencing : {true, false}) {
    CAPTURE(fencing);
    LocalNodes nodes{3};
    Redlock locks{endpoints(nodes)};
    const LockOptions options{.fencing = fencing};
    Lease left = locks.lock("r", options).value();
    REQUIRE(eventually([&] { return voters(locks) == 3 && Observers{nodes}.having("r") == 3; }));
    REQUIRE(left.orphan());
    const auto adopt = [&](Redlock& client) {
      return client.adopt({"r", left.owner_value(), left.fencing_token()}, options);
    };
    Proxies proxies{nodes};
    proxies[0].refuse(true);
    Redlock adopters{proxies.endpoints()};
    const Lease adopted = adopt(adopters).value();
    RawClient replica{nodes.port(2)};
    REQUIRE(eventually([&] { return replica.get("r") == adopted.owner_value(); }));
    replicate_for_a_moment(nodes, 0, 2);
    REQUIRE(replica.get("r") == left.owner_value());

    CHECK_FALSE(is_granted(adopt(locks)));
    CHECK(adopted.valid());
  }
}

TEST_CASE("the_uptime_of_a_server_that_was_a_replica_does_not_shorten_its_quarantine") {
  LocalNodes nodes{3};
  const Options short_locks{.max_ttl = 2s};
  Redlock locks{endpoints(nodes), short_locks};
  static_cast<void>(locks.lock("r", {.ttl = 1s}).value());
  RawClient replica{nodes.port(2)};
  REQUIRE(eventually([&] { return std::stoi(replica.info("uptime_in_seconds").value_or("0")) >= 4; }));
  replicate_for_a_moment(nodes, 0, 2);
  Proxies proxies{nodes};
  proxies[0].refuse(true);  // so the newcomer does not see whose marker it is
  Redlock newcomer{proxies.endpoints(), short_locks};
  CHECK(eventually([&] {
    static_cast<void>(newcomer.try_lock("r", {.ttl = 1s}));
    return replica.pttl("redlock:quarantine") > 1000;
  }));
}

TEST_CASE("durable_nodes_vote_at_once_after_a_restart") {
  LocalNodes nodes{3, {.persist = true}};
  Redlock locks{endpoints(nodes), Options{.durable_nodes = true}};
  begin(locks);
  for (int node = 0; node < 3; ++node) nodes.restart_with_data(node);
  REQUIRE(eventually([&] { return is_granted(locks.try_lock("r")); }, 5s));
  REQUIRE(eventually([&] { return voters(locks) == 3; }, 5s));
}

TEST_CASE("nodes_not_declared_durable_are_quarantined_even_if_they_kept_their_data") {
  LocalNodes nodes{3, {.persist = true}};
  Redlock locks{endpoints(nodes)};
  begin(locks);
  nodes.restart_with_data(1);
  REQUIRE(eventually([&] {
    static_cast<void>(locks.try_lock("r"));
    return locks.inspect("r")[1].status == NodeStatus::quarantined;
  }));
  REQUIRE(eventually([&] { return Observers{nodes}[1].pttl("redlock:quarantine") > 55000; }));
}

TEST_CASE("the_strict_guard_quarantines_new_nodes") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes), Options{.restart_guard = RestartGuard::strict, .max_ttl = 1s}};
  const LockOptions brief{.ttl = 1s};
  const Clock::time_point begun = Clock::now();
  const Error error = error_of([&] { (void)locks.try_lock("r", brief).value(); });
  CHECK(error.code() == Errc::no_quorum);
  for (const NodeReport& report : error.nodes()) CHECK(report.status == NodeStatus::quarantined);
  REQUIRE(is_granted(locks.try_lock_for("r", 20s, brief)));
  CHECK(Clock::now() - begun >= 1s);
}

TEST_CASE("the_next_attempt_detects_a_flush_on_live_connections_with_and_without_fencing") {
  const bool fencing = GENERATE(true, false);
  CAPTURE(fencing);
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  begin(locks);
  servers.command({"FLUSHALL"});
  const Error error = error_of([&] { (void)locks.try_lock("r", {.fencing = fencing}).value(); });
  CHECK(error.code() == Errc::no_quorum);
  for (const NodeReport& report : error.nodes()) CHECK(report.status == NodeStatus::quarantined);
  CHECK(servers.having("r") == 0);
  REQUIRE(eventually([&] { return servers.having("redlock:quarantine") == 3; }));
}

TEST_CASE("teams_with_other_key_prefixes_share_servers_without_disturbing_each_other") {
  LocalNodes nodes{4};
  Observers servers{nodes};
  const auto all = endpoints(nodes);
  Redlock one{{all[0], all[1], all[2]}, Options{.max_ttl = 30s, .key_prefix = "one:"}};
  Redlock two{{all[1], all[2], all[3]}, Options{.max_ttl = 2s, .key_prefix = "two:"}};
  Redlock plain{all, Options{.max_ttl = 50s}};
  const LockOptions brief{.ttl = 1s};
  for (Redlock* const team : {&one, &two, &plain}) {
    REQUIRE(eventually([&] { return is_granted(team->try_lock_for("r", 20s, brief)); }));
    CHECK_FALSE(reports_of_all(*team, "r", NodeStatus::free).empty());
  }
  CHECK(servers[1].get("redlock:node:one:").value_or("").find("nodes=3 max_ttl=30000 ") != std::string::npos);
  CHECK(servers[1].get("redlock:node:two:").value_or("").find("nodes=3 max_ttl=2000 ") != std::string::npos);
  CHECK(servers[1].get("redlock:node").value_or("").find("nodes=4 max_ttl=50000 ") != std::string::npos);

  // Each of them waits for its own longest lock after a loss of data.
  nodes.restart_empty(1);
  for (Redlock* const team : {&one, &two})
    REQUIRE(eventually([&] {
      REQUIRE(is_granted(team->try_lock_for("r", 20s, brief)));
      return team->inspect("r")[team == &one ? 1 : 0].votes_in.value_or(0ms) > 0ms;
    }));
  RawClient restarted{nodes.port(1)};
  CHECK(restarted.pttl("redlock:quarantine:one:") > 20'000);
  CHECK(restarted.pttl("redlock:quarantine:two:") <= 2022);
  REQUIRE(eventually([&] { return two.inspect("r")[0].status == NodeStatus::free; }, 10s));
  CHECK(one.inspect("r")[1].status == NodeStatus::quarantined);
}

TEST_CASE("clients_that_disagree_about_the_nodes_get_an_error") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  begin(locks);
  Redlock fewer{{redlock::Endpoint{nodes.url(0)}}};
  CHECK_THAT(error_of([&] { (void)fewer.try_lock("r").value(); }).what(),
             contains("its marker says 3 nodes, but this client has 1"));
  REQUIRE(is_granted(locks.try_lock("r")));
}

TEST_CASE("deleting_the_markers_of_unused_nodes_allows_another_number_of_nodes") {
  LocalNodes nodes{5};
  Observers servers{nodes};
  const std::vector<redlock::Endpoint> all = endpoints(nodes);
  {
    Redlock three{{all.begin(), all.begin() + 3}};
    begin(three);
  }
  Redlock five{all};
  CHECK(error_of([&] { (void)five.try_lock("r").value(); }).code() == Errc::misconfigured);
  servers.command({"DEL", "redlock:node"});
  Redlock again{all};
  REQUIRE(eventually([&] { return is_granted(again.try_lock("r")); }));
  CHECK(eventually([&] {
    static_cast<void>(again.try_lock("r"));
    return voters(again) == 5;
  }));
}

TEST_CASE("deleting_the_keys_of_the_guard_helps_living_clients") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  begin(locks);
  const auto all_vote = [&] {
    static_cast<void>(locks.try_lock("r"));
    return voters(locks) == 3;
  };
  nodes.restart_empty(1);
  servers[1] = RawClient{nodes.port(1)};
  const auto waits = [&] {
    static_cast<void>(locks.try_lock("r"));
    return servers[1].pttl("redlock:quarantine") > 0;
  };
  REQUIRE(eventually(waits));
  servers[1].command({"DEL", "redlock:quarantine"});
  CHECK(eventually(all_vote, 20s));
  servers[1].command({"SET", "redlock:node", "not a marker"});
  REQUIRE(eventually([&] {
    static_cast<void>(locks.try_lock("r"));
    return locks.inspect("r")[1].status == NodeStatus::other_deployment;
  }));
  servers[1].command({"DEL", "redlock:node"});
  REQUIRE(eventually(waits));
  servers[1].command({"DEL", "redlock:quarantine"});
  CHECK(eventually(all_vote, 20s));
}

TEST_CASE("an_empty_node_may_replace_another_at_the_same_address_under_live_clients") {
  LocalNodes nodes{5};
  Redlock locks{endpoints(nodes), Options{.node_timeout = 2s, .max_ttl = 3s}};
  const LockOptions brief{.ttl = 3s};
  begin(locks, brief.ttl);
  nodes.kill(4);
  REQUIRE(is_granted(locks.try_lock("r", brief)));
  nodes.restart_empty(4);
  const Clock::time_point replaced = Clock::now();
  REQUIRE(eventually(
      [&] {
        REQUIRE(is_granted(locks.try_lock("r", brief)));
        return voters(locks) == 5;
      },
      20s));
  CHECK(Clock::now() - replaced >= 3s);
}

TEST_CASE("without_the_guard_no_marker_is_read_or_written") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), Options{.restart_guard = RestartGuard::off}};
  REQUIRE(is_granted(locks.try_lock("r", {.ttl = 10min, .fencing = false})));
  redlock::SingleNodeLock single{redlock::Endpoint{nodes.url(0)}};
  REQUIRE(is_granted(single.try_lock("s", {.ttl = 10min})));
  CHECK(servers.having("redlock:node") == 0);
  for (RawClient& server : servers) CHECK(server.calls("eval") == 0);
}

// ── a lease on exactly three nodes, which then forget it ───────────────────────────────────────────────────

namespace {

enum class Loss { restarted_empty, old_snapshot, flushed };
constexpr std::chrono::milliseconds ttl = 400ms;

std::size_t rounds() {
  const char* const text = std::getenv("REDLOCK_GUARD_ROUNDS");
  return text ? std::stoul(text) : 50;
}

/// Five nodes, eight clients that contend, and one client that reaches only three of the nodes.
class Contest {
 public:
  Contest(RestartGuard policy, std::uint64_t seed)
      : options_{.restart_guard = policy, .max_ttl = ttl}, random_{seed} {
    for (int i = 0; i < 8; ++i) clients_.push_back(std::make_unique<Redlock>(endpoints(nodes_), options_));
    for (const auto& client : clients_)
      REQUIRE(eventually([&] { return is_granted(client->try_lock("warm up", {.ttl = ttl})); }));
    for (RawClient& server : servers_) keep_no_more(server);
  }

  /// Returns the number of leases that overlapped.
  int round(int number) {
    const std::string resource = "r" + std::to_string(number);
    const std::size_t first = random_() % 5;
    const std::size_t away[] = {first, (first + 1 + random_() % 4) % 5};
    REQUIRE(eventually([&] { return all_vote(); }));
    const auto is_away = [&away](std::size_t node) { return node == away[0] || node == away[1]; };

    Proxies proxies{nodes_};
    for (const std::size_t node : away) proxies[node].refuse(true);
    Redlock holder{proxies.endpoints(), options_};
    const LockOptions options{.ttl = ttl, .fencing = random_() % 2 == 0};
    Lease lease;
    REQUIRE(eventually([&] {  // repeated, as a busy machine may be too slow for one node timeout
      LockResult result = holder.try_lock(resource, options);
      if (result) lease = std::move(result).value();
      return lease.valid();
    }));
    ExclusionChecker<1> checker;
    checker.acquired(0, lease);
    const auto loss = static_cast<Loss>(random_() % 3);
    for (std::size_t node = 0; node < 5; ++node)
      if (!is_away(node)) lose(static_cast<int>(node), loss);

    std::vector<std::jthread> contenders;
    for (const auto& client : clients_)
      contenders.emplace_back([&checker, &resource, &options, &client = *client] {
        const auto won = client.try_lock_for(resource, 3 * ttl, options);
        if (!won) return;
        checker.acquired(0, *won);
        std::this_thread::sleep_for(2ms);
        checker.releasing(0, *won);
      });
    contenders.clear();
    leases_ += checker.leases();
    return checker.overlaps();
  }
  [[nodiscard]] int leases() const noexcept { return leases_; }

 private:
  /// Whether all nodes vote for a new client, which also marks unmarked nodes.
  [[nodiscard]] bool all_vote() {
    Redlock newcomer{endpoints(nodes_), options_};
    return is_granted(newcomer.try_lock("between", {.ttl = ttl})) && voters(newcomer) == 5;
  }

  /// Stops persistence, so that the data on disk becomes an old snapshot without later locks.
  static void keep_no_more(RawClient& server) { server.command({"CONFIG", "SET", "appendonly", "no"}); }

  void lose(int node, Loss how) {
    if (how == Loss::restarted_empty) nodes_.restart_empty(node);
    if (how == Loss::old_snapshot) nodes_.restart_with_data(node);
    if (how == Loss::flushed) servers_[static_cast<std::size_t>(node)].command({"FLUSHALL"});
    if (how == Loss::flushed) return;
    servers_[static_cast<std::size_t>(node)] = RawClient{nodes_.port(node)};
    keep_no_more(servers_[static_cast<std::size_t>(node)]);
  }

  LocalNodes nodes_{5, {.persist = true}};
  Observers servers_{nodes_};
  Options options_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Redlock>> clients_;
  int leases_ = 0;
};

std::uint64_t seed() {
  const char* const text = std::getenv("REDLOCK_SEED");
  return text ? std::stoull(text) : std::random_device{}();
}

}  // namespace

TEST_CASE("nodes_that_forget_a_lease_do_not_grant_a_second_one_before_it_ends") {
  const std::uint64_t chosen = seed();
  CAPTURE(chosen);
  Contest contest{RestartGuard::automatic, chosen};
  for (std::size_t round = 0; round < rounds(); ++round) {
    CAPTURE(round);
    REQUIRE(contest.round(static_cast<int>(round)) == 0);
  }
  // The lease of the holder, and usually another one after it.
  CHECK(contest.leases() > static_cast<int>(rounds()));
}

TEST_CASE("without_the_guard_nodes_that_forget_a_lease_grant_a_second_one") {
  Contest contest{RestartGuard::off, 1};
  int overlaps = 0;
  for (int round = 0; round < 20 && overlaps == 0; ++round) overlaps += contest.round(round);
  CHECK(overlaps > 0);
}
