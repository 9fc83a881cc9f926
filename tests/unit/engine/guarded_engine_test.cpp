// The effects of the restart guard on operations.
#include <chrono>
#include <string>
#include <vector>

#include "redlock/core/lease/release_operation.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "redlock/core/lock/inspection.hpp"
#include "support/catch.hpp"
#include "unit/support/engine_harness.hpp"
#include "unit/support/guarded_nodes.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using namespace redlock::core;
using redlock::Errc;
using redlock::NodeStatus;

/// An engine with a restart guard, and servers that answer the guard's commands.
struct GuardedEngineHarness {
  explicit GuardedEngineHarness(std::size_t nodes = 3)
      : servers{fresh_servers(nodes)}, harness{nodes, example_guard(nodes)}, texts(nodes) {}

  /// Marks the servers as of 24 hours ago.
  void mark() {
    GuardedClient first{servers, example_guard()};
    first.connect_all(at(-24h));
    first.settle(at(-24h));
  }

  Ref<Acquisition> acquire(Claim claim, Time now) {
    Ref<Acquisition> attempt{
        new Acquisition{std::move(claim), servers.size(), Acquisition::Purpose::try_once}};
    harness.engine.submit(Ref<Operation>{attempt.get()}, now);
    return attempt;
  }
  void connect(NodeIndex node, Time now) {
    harness.connect(node, now, servers[node].run_id, servers[node].look(now));
  }
  void connect_all(Time now) {
    for (NodeIndex node = 0; node < servers.size(); ++node) connect(node, now);
  }
  /// Answers the guard's commands, and leaves all other bytes for `take_bytes`.
  void serve(Time now) {
    for (NodeIndex node = 0; node < servers.size(); ++node) {
      std::string bytes = harness.take_bytes(node);
      if (bytes.find("EVAL\r\n") == bytes.npos || bytes.find(mark_script) == bytes.npos) {
        texts[node] += bytes;
        continue;
      }
      harness.engine.answered(node, servers[node].execute(words_of(bytes), now), now);
    }
  }
  std::string take_bytes(NodeIndex node) { return std::exchange(texts[node], {}) + harness.take_bytes(node); }

  std::vector<MarkedServer> servers;
  EngineHarness harness;
  std::vector<std::string> texts;
};

/// What is sent to a node: it has to have its own marker.
std::string set_command(const GuardedEngineHarness& nodes, NodeIndex node, Claim claim = example_claim()) {
  claim.marker_keys = &keys_without_prefix;
  const std::string& marker = nodes.servers[node].data.marker;
  const std::string beginning = Marker::parse(marker)->beginning();
  return claim.set_command() + RequiredMarker{beginning, Marker::ending_of(marker)}.arguments();
}

/// To an inspection: the time, the line, who is alive in it, the counter, the owner value, the counter again and the ttl.
const Reply replies_of_free_node[] = {array_reply({}),  array_reply({}),  array_reply({}),  array_reply({}),
                                      string_reply(""), string_reply(""), string_reply(""), number(-2)};

}  // namespace

TEST_CASE("a_first_call_on_new_nodes_waits_for_their_markers_and_requests_guarded_grants") {
  GuardedEngineHarness nodes;
  const Ref<Acquisition> attempt = nodes.acquire(example_claim(), at(0ms));
  nodes.connect_all(at(1ms));
  for (NodeIndex node = 0; node < 3; ++node) CHECK(nodes.take_bytes(node).empty());
  CHECK(nodes.harness.engine.timer() == at(201ms));
  nodes.harness.engine.on_time(at(201ms));
  // The second look at the markers, markers without a name, another look, and the name.
  for (const Span after : {202ms, 203ms, 204ms, 205ms}) {
    CHECK(attempt->deadline() == never);
    nodes.serve(at(after));
  }
  for (NodeIndex node = 0; node < 3; ++node) CHECK(nodes.take_bytes(node) == set_command(nodes, node));
  CHECK(attempt->begun() == at(205ms));
  for (const NodeIndex node : {0U, 1U}) nodes.harness.engine.answered(node, ok(), at(206ms));
  CHECK(attempt->granted());
}

TEST_CASE("a_first_call_waits_past_the_connect_timeout_for_markers_under_way") {
  GuardedEngineHarness nodes;
  const Ref<Acquisition> attempt = nodes.acquire(example_claim(), at(0ms));
  nodes.connect_all(at(480ms));
  nodes.harness.engine.on_time(at(500ms));
  nodes.harness.engine.on_time(at(680ms));
  for (const Span after : {680ms, 681ms, 682ms, 683ms}) nodes.serve(at(after));
  CHECK(attempt->begun() == at(683ms));
}

TEST_CASE("nodes_that_may_not_grant_are_reported_and_not_asked") {
  GuardedEngineHarness nodes;
  nodes.mark();
  nodes.servers[0] = {"another run", nodes.servers[0].data};
  nodes.servers[1] = {"another run as well", nodes.servers[1].data};
  const Ref<Acquisition> attempt = nodes.acquire(example_fenced_claim(), at(0ms));
  nodes.connect_all(at(1ms));
  for (int round = 0; round < 3; ++round)
    nodes.serve(at(2ms));  // looks at both, and at the third; marks both
  CHECK(attempt->failure() == std::nullopt);
  nodes.harness.engine.answered(2, number(7), at(3ms));
  CHECK(attempt->failure() == Errc::no_quorum);
  CHECK(attempt->tally()[0].trouble.status == NodeStatus::quarantined);
  CHECK_THAT(attempt->tally()[1].trouble.message, contains("votes again in 61 s"));
  for (const NodeIndex node : {0U, 1U}) CHECK(nodes.take_bytes(node) == example_claim().release_command());
  CHECK(nodes.take_bytes(2).starts_with(set_command(nodes, 2, example_fenced_claim())));
}

TEST_CASE("a_node_that_reports_two_run_ids_on_one_connection_is_connected_again") {
  GuardedEngineHarness nodes;
  nodes.mark();
  const Ref<Acquisition> attempt = nodes.acquire(example_claim(), at(0ms));
  nodes.harness.connect(0, at(1ms), "run0", nodes.servers[1].look(at(1ms)));
  CHECK(nodes.harness.engine.session(0).state() == Session::State::down);
  CHECK_THAT(nodes.harness.engine.session(0).trouble().message, contains("reports another run_id"));
  nodes.connect(1, at(1ms));
  nodes.connect(2, at(1ms));
  for (const NodeIndex node : {1U, 2U}) nodes.harness.engine.answered(node, ok(), at(2ms));
  CHECK(attempt->granted());

  const Ref<Acquisition> another = nodes.acquire(example_claim(), at(2s));
  for (const NodeIndex node : {1U, 2U}) nodes.take_bytes(node);
  nodes.harness.engine.answered(1, error_reply("UNMARKED"), at(2s));
  CHECK_THAT(nodes.take_bytes(1), contains(std::string{mark_script}));
  nodes.harness.engine.answered(1, number(0), at(2s));  // to a release
  nodes.harness.engine.answered(1, nodes.servers[2].look(at(2s)), at(2s));
  CHECK(nodes.harness.engine.session(1).is_dialling());
  nodes.connect(1, at(3s));
  CHECK_THAT(nodes.take_bytes(1), !contains(std::string{mark_script}));
}

TEST_CASE("an_inspection_finds_lost_data_although_that_node_answers_before_another_is_connected") {
  GuardedEngineHarness nodes;
  nodes.mark();
  nodes.servers[1] = {"another run", {}};
  const Ref<Inspection> inspection{new Inspection{"key", 3, 250ms}};
  nodes.harness.engine.submit(Ref<Operation>{inspection.get()}, at(0ms));
  nodes.harness.disconnect(0, at(1ms));
  for (const NodeIndex node : {1U, 2U}) {
    CHECK_FALSE(inspection->done());
    nodes.connect(node, at(2ms));
    for (const Reply& reply : replies_of_free_node) nodes.harness.engine.answered(node, reply, at(3ms));
  }
  CHECK(inspection->done());
  CHECK(inspection->tally()[0].trouble.status == NodeStatus::connection_lost);
  CHECK(inspection->tally()[1].trouble.status == NodeStatus::quarantined);
  CHECK(inspection->tally().is(2, Tally::Mark::yes));
}

TEST_CASE("a_grant_that_waits_for_a_connection_is_sent_only_if_the_node_comes_back_with_its_data") {
  for (const bool keeps_data : {true, false}) {
    CAPTURE(keeps_data);
    GuardedEngineHarness nodes;
    nodes.mark();
    const Ref<Acquisition> first = nodes.acquire(example_claim(), at(0ms));
    nodes.connect_all(at(1ms));
    nodes.harness.engine.abandon(Ref<Operation>{first.get()}, Errc::cancelled, at(2ms));
    for (NodeIndex node = 0; node < 3; ++node) {
      nodes.take_bytes(node);
      for (int i = 0; i < 2; ++i) nodes.harness.engine.answered(node, nil(), at(3ms));
    }

    nodes.harness.disconnect(0, at(10s));
    const Ref<Acquisition> second = nodes.acquire(example_claim(), at(10s));
    CHECK(nodes.take_bytes(1) == set_command(nodes, 1));
    const std::string waiting = set_command(nodes, 0);
    if (!keeps_data) nodes.servers[0] = {"another run", nodes.servers[0].data};
    nodes.connect(0, at(10001ms));
    CHECK(second->tally().is(0, keeps_data ? Tally::Mark::pending : Tally::Mark::unknown));
    if (!keeps_data) CHECK(second->tally()[0].trouble.status == NodeStatus::quarantined);
    CHECK((nodes.take_bytes(0).find(waiting) != std::string::npos) == keeps_data);
    CHECK_FALSE(second->done());
  }
}

TEST_CASE("a_node_that_refuses_a_grant_is_checked_for_lost_data") {
  GuardedEngineHarness nodes;
  nodes.mark();
  const Ref<Acquisition> attempt = nodes.acquire(example_claim(), at(0ms));
  nodes.connect_all(at(1ms));
  for (NodeIndex node = 0; node < 3; ++node) nodes.take_bytes(node);
  nodes.servers[0].data = {};
  nodes.harness.engine.answered(0, error_reply("UNMARKED it lost its data"), at(2ms));
  CHECK(attempt->tally()[0].trouble.status == NodeStatus::quarantined);
  for (const NodeIndex node : {1U, 2U}) nodes.harness.engine.answered(node, ok(), at(2ms));
  CHECK(attempt->granted());
  CHECK(nodes.harness.engine.needs_attention());
  CHECK(nodes.harness.take_bytes(0) == look_command());
  nodes.harness.engine.answered(0, nodes.servers[0].look(at(3ms)), at(3ms));
  CHECK(nodes.harness.engine.background_timer() == at(203ms));
  nodes.harness.engine.on_time(at(203ms));
  for (int round = 0; round < 3; ++round) nodes.serve(at(203ms));
  CHECK(nodes.servers[0].is_quarantined(at(60s)));
}

TEST_CASE("nodes_that_restart_one_after_the_other_are_marked_without_another_call") {
  GuardedEngineHarness nodes;
  nodes.mark();
  const Ref<Acquisition> attempt = nodes.acquire(example_claim(), at(0ms));
  nodes.connect_all(at(1ms));
  for (const NodeIndex node : {0U, 1U, 2U}) nodes.harness.engine.answered(node, ok(), at(2ms));
  REQUIRE(attempt->granted());
  for (const NodeIndex node : {0U, 1U, 2U}) nodes.take_bytes(node);
  Time now = at(3s);
  for (NodeIndex node = 0; node < 3; ++node, now += 3s) {
    nodes.servers[node] = {"another run " + std::to_string(node), {}};
    nodes.harness.disconnect(node, now);
    CHECK(nodes.harness.engine.needs_attention());
    nodes.connect(node, now + 1ms);
    REQUIRE(nodes.harness.engine.background_timer() == now + 201ms);
    nodes.harness.engine.on_time(now + 201ms);
    for (int round = 0; round < 3; ++round)
      nodes.serve(now + 201ms);  // looks at it, then at the others; marks it
    CHECK(nodes.servers[node].is_quarantined(now + 60s));
  }
}

TEST_CASE("an_inspection_reports_which_nodes_may_have_lost_a_lock") {
  GuardedEngineHarness nodes;
  nodes.mark();
  nodes.servers[0] = {"another run", {}};
  const Ref<Inspection> inspection{new Inspection{"key", 3, 50ms}};
  nodes.harness.engine.submit(Ref<Operation>{inspection.get()}, at(0ms));
  nodes.connect_all(at(1ms));
  for (const NodeIndex node : {0U, 1U, 2U}) {
    for (const Reply& reply : replies_of_free_node) nodes.harness.engine.answered(node, reply, at(2ms));
  }
  REQUIRE(inspection->done());
  CHECK(inspection->tally()[0].trouble.status == NodeStatus::quarantined);
  CHECK(inspection->tally().is(1, Tally::Mark::yes));
  CHECK(nodes.servers[0].data.marker.empty());
}

TEST_CASE("releases_also_go_to_nodes_that_may_not_grant") {
  GuardedEngineHarness nodes;
  nodes.mark();
  nodes.servers[0] = {"another run", {}};
  const Ref<Acquisition> attempt = nodes.acquire(example_claim(), at(0ms));
  nodes.connect_all(at(1ms));
  for (NodeIndex node = 0; node < 3; ++node) nodes.take_bytes(node);
  const Ref<ReleaseOperation> release_operation{new ReleaseOperation{example_lease(1s), 3}};
  nodes.harness.engine.submit(Ref<Operation>{release_operation.get()}, at(2ms));
  for (NodeIndex node = 0; node < 3; ++node)
    CHECK(nodes.take_bytes(node) == example_claim().release_command());
}

TEST_CASE("a_server_that_reports_the_run_id_of_another_one_does_not_take_its_vote") {
  const bool comes_first = GENERATE(true, false);
  CAPTURE(comes_first);
  GuardedEngineHarness nodes;
  nodes.mark();
  nodes.servers[2].run_id = nodes.servers[0].run_id;
  const Ref<Acquisition> attempt = nodes.acquire(example_claim(), at(0ms));
  for (const NodeIndex node : {comes_first ? 2U : 0U, comes_first ? 0U : 2U, 1U})
    nodes.connect(node, at(1ms));
  CHECK(nodes.harness.engine.session(0).ready());
  CHECK(nodes.harness.engine.session(2).trouble().message == "the same server as node 0, which votes");
  for (const NodeIndex node : {0U, 1U}) {
    CHECK(nodes.take_bytes(node) == set_command(nodes, node));
    nodes.harness.engine.answered(node, ok(), at(2ms));
  }
  CHECK(attempt->granted());
}

TEST_CASE("of_two_names_of_one_server_the_first_one_keeps_the_vote") {
  GuardedEngineHarness nodes;
  nodes.mark();
  nodes.servers[2] = nodes.servers[0];
  const Ref<Acquisition> attempt = nodes.acquire(example_claim(), at(0ms));
  for (const NodeIndex node : {1U, 2U, 0U}) nodes.connect(node, at(1ms));
  CHECK(nodes.harness.engine.session(2).ready());
  CHECK(nodes.harness.engine.session(0).trouble().status == NodeStatus::same_node);
}
