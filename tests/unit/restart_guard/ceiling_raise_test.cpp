#include "redlock/core/restart_guard/ceiling_raise.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/guarded_nodes.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using namespace redlock::core;
using redlock::NodeStatus;

constexpr Span pause_of_raise = CeilingRaise::pause;

/// Marked servers, and an operator who raises `max_ttl` from 60 s.
struct Raise {
  explicit Raise(std::chrono::milliseconds max_ttl, std::size_t nodes = 3)
      : servers{fresh_servers(nodes)}, outbox{nodes} {
    GuardedClient first{servers, example_guard(nodes)};
    first.connect_all(at(-24h));
    first.settle(at(-24h));
    for (const MarkedServer& server : servers) outbox.run_ids.push_back(server.run_id);
    outbox.keys = &keys_without_prefix;
    raise = std::make_unique<CeilingRaise>(max_ttl, nodes, false, 250ms);
  }
  /// Executes and answers the commands that were sent by now. Returns their number.
  std::size_t serve(Time now) {
    const std::vector<Sent> sent = outbox.take();
    for (const Sent& one : sent)
      raise->answered(one.node, 0, servers[one.node].execute(words_of(one.command), now), now, outbox);
    return sent.size();
  }
  /// Serves until nothing is sent.
  void settle(Time now) {
    while (serve(now) > 0) {
    }
  }
  [[nodiscard]] TtlLimits limits(NodeIndex node) const {
    return Marker::parse(servers[node].data.marker)->limits;
  }
  [[nodiscard]] std::string trouble(NodeIndex node) const {
    return std::string{to_string(raise->tally()[node].trouble.status)} + ": " +
           raise->tally()[node].trouble.message;
  }
  [[nodiscard]] bool succeeded() const {
    return raise->done() && raise->tally().count(Tally::Mark::yes) == servers.size();
  }

  std::vector<MarkedServer> servers;
  RecordingOutbox outbox;
  std::unique_ptr<CeilingRaise> raise;
};

}  // namespace

TEST_CASE("the_ceiling_of_all_nodes_is_raised_first_and_max_ttl_after_a_pause") {
  Raise one{300s};
  one.raise->start(at(0ms), one.outbox);
  CHECK(one.serve(at(1ms)) == 3);  // looks
  CHECK(one.serve(at(2ms)) == 3);  // ceilings
  for (NodeIndex node = 0; node < 3; ++node) CHECK(one.limits(node) == TtlLimits{60s, 300s});
  CHECK(one.servers[0].data.marker.find(" max_ttl=60000 ceiling=300000 ") != std::string::npos);
  CHECK(one.outbox.sent().empty());
  REQUIRE(one.raise->deadline() == at(2ms) + pause_of_raise);
  one.raise->timed_out(one.raise->deadline(), one.outbox);
  CHECK(one.serve(at(3s)) == 3);  // looks
  CHECK(one.serve(at(3s)) == 3);
  for (NodeIndex node = 0; node < 3; ++node) CHECK(one.limits(node) == TtlLimits{300s, 300s});
  CHECK(one.succeeded());
  CHECK(one.raise->max_ttl() == 300s);
}

TEST_CASE("a_marker_that_changes_during_the_pause_prolongs_it") {
  Raise one{300s};
  one.raise->start(at(0ms), one.outbox);
  one.settle(at(1ms));
  // Another client marks a node after it lost its data, with the limits that it has read before.
  one.servers[1].data.marker = Marker::parse(one.servers[1].data.marker)->beginning() +
                               "max_ttl=60000 node=0123456789abcdef run_id=run1";
  one.raise->timed_out(one.raise->deadline(), one.outbox);
  one.settle(at(3s));
  CHECK(one.limits(1) == TtlLimits{60s, 300s});
  REQUIRE_FALSE(one.raise->done());
  REQUIRE(one.raise->deadline() == at(3s) + pause_of_raise);
  one.raise->timed_out(one.raise->deadline(), one.outbox);
  one.settle(at(6s));
  CHECK(one.succeeded());
  CHECK(one.limits(1) == TtlLimits{300s, 300s});
}

TEST_CASE("a_node_that_was_marked_during_the_pause_prolongs_it_although_it_has_the_new_ceiling") {
  Raise one{300s};
  one.raise->start(at(0ms), one.outbox);
  one.settle(at(1ms));
  one.servers[1].data.marker = Marker::parse(one.servers[1].data.marker)->beginning() +
                               "max_ttl=60000 ceiling=300000 node=0123456789abcdef run_id=run1";
  one.raise->timed_out(one.raise->deadline(), one.outbox);
  one.settle(at(3s));
  REQUIRE_FALSE(one.raise->done());
  CHECK(one.raise->deadline() == at(3s) + pause_of_raise);
  CHECK(one.limits(0) == TtlLimits{60s, 300s});
}

TEST_CASE("a_max_ttl_that_all_nodes_have_is_not_raised_and_never_lowered") {
  for (const std::chrono::milliseconds max_ttl : {60000ms, 10ms}) {
    Raise one{max_ttl};
    const std::vector<MarkedServer> before = one.servers;
    one.raise->start(at(0ms), one.outbox);
    one.settle(at(1ms));
    one.raise->timed_out(one.raise->deadline(), one.outbox);
    one.settle(at(3s));
    CHECK(one.succeeded());
    CHECK(one.raise->max_ttl() == 60s);
    for (NodeIndex node = 0; node < 3; ++node) CHECK(one.servers[node].data == before[node].data);
  }
}

TEST_CASE("max_ttl_is_not_raised_unless_all_nodes_have_intact_markers_of_one_deployment") {
  Raise without_marker{300s};
  without_marker.servers[2].data = {};
  without_marker.raise->start(at(0ms), without_marker.outbox);
  without_marker.settle(at(1ms));
  CHECK(without_marker.raise->done());
  CHECK(without_marker.trouble(2) == "quarantined: the node has no marker; take a lock first");

  Raise without_first{300s};
  without_first.servers[0].data = {};
  without_first.raise->start(at(0ms), without_first.outbox);
  without_first.settle(at(1ms));
  CHECK(without_first.raise->done());
  CHECK(without_first.trouble(0) == "quarantined: the node has no marker; take a lock first");
  CHECK(without_first.raise->tally().count(Tally::Mark::unknown) == 1);

  Raise restarted{300s};
  restarted.servers[0].run_id = restarted.outbox.run_ids[0] = "another run";
  restarted.raise->start(at(0ms), restarted.outbox);
  restarted.settle(at(1ms));
  CHECK(restarted.raise->done());
  CHECK(restarted.trouble(0) ==
        "quarantined: the node has restarted and was not marked since; take a lock first");

  Raise unreadable{300s};
  unreadable.raise->start(at(0ms), unreadable.outbox);
  unreadable.outbox.take();
  unreadable.raise->answered(0, 0, error_reply("LOADING"), at(1ms), unreadable.outbox);
  for (NodeIndex node = 1; node < 3; ++node)
    unreadable.raise->answered(
        node, 0, unreadable.servers[node].execute(words_of(look_command(keys_without_prefix)), at(1ms)),
        at(1ms), unreadable.outbox);
  CHECK(unreadable.raise->done());
  CHECK(unreadable.trouble(0) == "loading: LOADING");

  Raise foreign{300s};
  foreign.servers[0].data.marker.replace(foreign.servers[0].data.marker.find("deployment=") + 11, 4, "0000");
  foreign.raise->start(at(0ms), foreign.outbox);
  foreign.settle(at(1ms));
  CHECK(foreign.raise->done());
  CHECK(foreign.trouble(0) == "other deployment: the node's marker is not that of the other nodes");

  Raise cut_off{300s};
  cut_off.raise->start(at(0ms), cut_off.outbox);
  cut_off.raise->disconnected(1, lost_connection(), at(1ms), cut_off.outbox);
  CHECK(cut_off.raise->done());
  CHECK(cut_off.raise->tally()[1].trouble.status == NodeStatus::connection_lost);

  Raise silent{300s};
  silent.raise->start(at(0ms), silent.outbox);
  REQUIRE(silent.raise->deadline() == at(250ms));
  silent.raise->timed_out(at(250ms), silent.outbox);
  CHECK(silent.raise->done());
  CHECK(silent.trouble(0) == "timed out: no answer within 250 ms");

  for (const Raise* const each : {&without_marker, &restarted, &unreadable, &foreign, &cut_off, &silent})
    CHECK(each->limits(1) == TtlLimits{60s, 60s});
}

TEST_CASE("a_raise_gives_up_if_markers_change_again_and_again") {
  Raise one{300s};
  one.raise->start(at(0ms), one.outbox);
  Time now = at(1ms);
  for (int round = 0; round < 100 && !one.raise->done(); ++round, now += 3s) {
    one.settle(now);
    if (one.raise->done()) break;
    one.servers[0].data.marker = Marker::parse(one.servers[0].data.marker)->beginning() +
                                 "max_ttl=60000 node=0123456789abcdef run_id=run0";
    one.raise->timed_out(now, one.outbox);
  }
  CHECK(one.raise->done());
  CHECK_FALSE(one.succeeded());
  for (NodeIndex node = 0; node < 3; ++node) CHECK(one.limits(node).max_ttl == 60s);
}
