#include "redlock/core/restart_guard/restart_guard.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/guarded_nodes.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using namespace redlock::core;
using redlock::NodeStatus;

/// Servers that were marked 24 hours ago.
std::vector<MarkedServer> marked_servers(std::size_t count = 3) {
  std::vector<MarkedServer> servers = fresh_servers(count);
  GuardedClient first{servers, example_guard(count)};
  first.connect_all(at(-24h));
  first.settle(at(-24h));
  REQUIRE(first.admitted() == count);
  return servers;
}

GuardedClient guarded_client(std::vector<MarkedServer>& servers) {
  return GuardedClient{servers, example_guard(servers.size())};
}

void restart(MarkedServer& server, const MarkedServer::Data& data = {}) {
  server.run_id += "'";
  server.data = data;
}

constexpr auto quarantine = 60602ms;

}  // namespace

// ── new nodes ──────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("nodes_that_are_all_new_are_checked_twice_and_then_marked_and_vote") {
  std::vector<MarkedServer> servers = fresh_servers();
  GuardedClient one = guarded_client(servers);
  one.guard.want_grants(at(0ms), one.outbox);
  one.connect_all(at(1ms));
  CHECK(one.outbox.sent().empty());
  CHECK(one.guard.is_deciding(0));
  CHECK(one.guard.deadline() == at(201ms));
  CHECK(one.on_time(at(200ms)) == 0);
  CHECK(one.on_time(at(201ms)) == 6);  // three looks, three markers
  CHECK(one.admitted() == 3);
  CHECK(one.guard.deadline() == never);
  const std::string deployment = name_of({"run0", "run1", "run2"});
  CHECK(one.guard.beginning() == "redlock 1 deployment=" + deployment + " nodes=3 max_ttl=60000 ");
  CHECK(servers[1].data.marker ==
        std::string{one.guard.beginning()} + "node=" + name_of({"run1"}) + " run_id=run1");
  for (const MarkedServer& server : servers) CHECK_FALSE(server.is_quarantined(at(201ms)));
}

TEST_CASE("the_strict_guard_quarantines_nodes_that_are_all_new") {
  std::vector<MarkedServer> servers = fresh_servers();
  RestartGuard::Settings settings = example_guard();
  settings.strict = true;
  GuardedClient one{servers, settings};
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  CHECK(one.admitted() == 0);
  one.guard.want_grants(at(200ms) + quarantine, one.outbox);
  CHECK(one.admitted() == 0);
  one.guard.want_grants(at(202ms) + quarantine, one.outbox);
  CHECK(one.admitted() == 3);
}

TEST_CASE("a_client_that_wants_no_grant_writes_nothing") {
  std::vector<MarkedServer> servers = fresh_servers();
  GuardedClient one = guarded_client(servers);
  one.connect_all(at(0ms));
  CHECK(one.outbox.sent().empty());
  CHECK(one.guard.deadline() == never);
  CHECK_FALSE(one.guard.is_deciding(0));
  CHECK(one.guard.caveat(0, at(0ms)) == nullptr);
  CHECK(one.objection(0, at(0ms)) == "quarantined: the node has no marker: it lost its data or is new");

  std::vector<MarkedServer> others = marked_servers();
  restart(others[1]);
  GuardedClient another = guarded_client(others);
  another.connect_all(at(0ms));
  CHECK(another.outbox.sent().empty());
  CHECK(another.guard.caveat(0, at(0ms)) == nullptr);
  REQUIRE(another.guard.caveat(1, at(0ms)));
  CHECK(another.guard.caveat(1, at(0ms))->status == NodeStatus::quarantined);
}

TEST_CASE("two_clients_that_find_new_nodes_at_the_same_time_create_one_deployment") {
  // No node is quarantined for any order of the clients' marks on the three nodes.
  for (unsigned order = 0; order < 8; ++order) {
    CAPTURE(order);
    std::vector<MarkedServer> servers = fresh_servers();
    GuardedClient one = guarded_client(servers);
    GuardedClient two = guarded_client(servers);
    for (GuardedClient* const client : {&one, &two}) {
      client->guard.want_grants(at(0ms), client->outbox);
      client->connect_all(at(0ms));
      client->guard.timed_out(at(200ms), client->outbox);
      const std::vector<Sent> looks = client->outbox.take();
      REQUIRE(looks.size() == 3);
      for (const Sent& look : looks)
        client->guard.answered(look.node, 0, servers[look.node].look(at(200ms)), at(200ms), client->outbox);
    }
    const std::vector<Sent> first = one.outbox.take();
    const std::vector<Sent> second = two.outbox.take();
    REQUIRE(first.size() == 3);
    REQUIRE(second.size() == 3);
    for (NodeIndex node = 0; node < 3; ++node) {
      const bool one_first = (order >> node & 1U) != 0;
      for (const bool is_one : {one_first, !one_first}) {
        GuardedClient& client = is_one ? one : two;
        const Reply reply =
            servers[node].execute(words_of((is_one ? first : second)[node].command), at(201ms));
        client.guard.answered(node, 0, reply, at(201ms), client.outbox);
      }
    }
    CHECK(one.admitted() == 3);
    CHECK(two.admitted() == 3);
    CHECK(one.guard.beginning() == two.guard.beginning());
  }
}

TEST_CASE("a_client_that_arrives_during_marking_does_not_quarantine_the_unmarked_nodes") {
  std::vector<MarkedServer> servers = fresh_servers();
  GuardedClient one = guarded_client(servers);
  GuardedClient two = guarded_client(servers);
  one.guard.want_grants(at(0ms), one.outbox);
  two.guard.want_grants(at(0ms), two.outbox);
  one.connect_all(at(0ms));
  two.connect_all(at(0ms));
  one.guard.timed_out(at(200ms), one.outbox);
  for (const Sent& look : one.outbox.take())
    one.guard.answered(look.node, 0, servers[look.node].look(at(200ms)), at(200ms), one.outbox);
  const std::vector<Sent> marks = one.outbox.take();
  REQUIRE(marks.size() == 3);
  servers[0].execute(words_of(marks[0].command), at(201ms));
  two.on_time(at(201ms));  // sees one of three marked
  CHECK(two.admitted() == 1);
  for (const NodeIndex node : {1U, 2U}) servers[node].execute(words_of(marks[node].command), at(202ms));
  two.settle(at(203ms));
  CHECK(two.admitted() == 3);
}

TEST_CASE("an_incomplete_set_of_new_nodes_waits_for_the_others_and_is_then_quarantined") {
  std::vector<MarkedServer> servers = fresh_servers();
  GuardedClient one = guarded_client(servers);
  one.guard.want_grants(at(0ms), one.outbox);
  one.connect(0, at(0ms));
  one.connect(1, at(0ms));
  CHECK(one.on_time(at(200ms)) == 2);
  CHECK(one.guard.deadline() == at(500ms));
  CHECK(one.on_time(at(500ms)) == 2);
  CHECK(one.objection(0, at(500ms)) ==
        "quarantined: restarted without its data 0 ms ago, votes again in 61 s");
  CHECK(servers[0].data.marker ==
        "redlock 1 deployment=none nodes=3 max_ttl=60000 node=" + name_of({"run0"}) + " run_id=run0");
  one.guard.want_grants(at(501ms) + quarantine, one.outbox);
  CHECK(one.serve(at(501ms) + quarantine) == 2);
  CHECK(one.admitted() == 2);

  // A node that connects later is treated as one that lost its data.
  one.connect(2, at(2min));
  one.settle(at(2min));
  CHECK(one.admitted() == 2);
  CHECK(servers[2].data.marker.starts_with(one.guard.beginning()));
  CHECK(servers[2].is_quarantined(at(3min)));
}

TEST_CASE("a_node_that_connects_while_the_others_wait_for_it_counts_as_new") {
  std::vector<MarkedServer> servers = fresh_servers();
  GuardedClient one = guarded_client(servers);
  one.guard.want_grants(at(0ms), one.outbox);
  one.connect(0, at(0ms));
  one.connect(1, at(0ms));
  one.on_time(at(200ms));
  one.connect(2, at(299ms));
  one.on_time(at(499ms));
  CHECK(one.admitted() == 3);
}

// ── lost data ──────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_node_that_lost_its_data_votes_only_after_every_lock_has_expired") {
  std::vector<MarkedServer> servers = marked_servers();
  GuardedClient one = guarded_client(servers);
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  CHECK(one.admitted() == 3);
  one.disconnect(2, at(10s));
  restart(servers[2]);
  one.connect(2, at(10s));
  CHECK(one.admitted() == 2);
  CHECK(one.guard.deadline() == at(10200ms));
  CHECK(one.on_time(at(10200ms)) == 2);  // a look, and the marker with the quarantine
  CHECK(one.objection(2, at(14100ms)) ==
        "quarantined: restarted without its data 4 s ago, votes again in 57 s");
  CHECK(servers[2].is_quarantined(at(10200ms) + quarantine - 1ms));
  CHECK_FALSE(servers[2].grants(one.guard.beginning(), at(70s)));

  // The quarantine ends without any client, and a client that connects in the meantime does not restart it.
  GuardedClient two = guarded_client(servers);
  two.connect_all(at(60s));
  two.settle(at(60s));
  CHECK(two.admitted() == 2);
  CHECK(servers[2].data.quarantined_until == at(10200ms) + quarantine);
  two.guard.want_grants(at(10202ms) + quarantine, two.outbox);
  CHECK(two.admitted() == 3);
  CHECK(servers[2].grants(two.guard.beginning(), at(10202ms) + quarantine));
  GuardedClient three = guarded_client(servers);
  three.connect_all(at(80s));
  three.settle(at(80s));
  CHECK(three.admitted() == 3);
}

TEST_CASE("a_node_with_an_old_snapshot_is_quarantined_and_keeps_its_identity") {
  std::vector<MarkedServer> servers = marked_servers();
  const MarkedServer::Data snapshot = servers[1].data;
  restart(servers[1], snapshot);
  GuardedClient one = guarded_client(servers);
  one.connect_all(at(0ms));
  CHECK(one.admitted() == 2);
  one.guard.want_grants(at(0ms), one.outbox);
  CHECK(one.serve(at(0ms)) == 1);  // without a second look, as there is no doubt
  CHECK(one.admitted() == 2);
  CHECK(servers[1].data.quarantined_until == at(0ms) + quarantine);
  CHECK(servers[1].data.marker ==
        std::string{one.guard.beginning()} + "node=" + name_of({"run1"}) + " run_id=run1'");
}

TEST_CASE("an_old_snapshot_of_a_quarantine_does_not_shorten_the_new_one") {
  std::vector<MarkedServer> servers = marked_servers();
  restart(servers[1]);
  GuardedClient one = guarded_client(servers);
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  const MarkedServer::Data snapshot = servers[1].data;
  REQUIRE(snapshot.quarantined_until == at(200ms) + quarantine);
  restart(servers[1], snapshot);
  one.disconnect(1, at(60s));
  one.connect(1, at(60s));
  one.serve(at(60s));
  CHECK(servers[1].data.quarantined_until == at(60s) + quarantine);
}

TEST_CASE("a_majority_that_lost_its_data_is_quarantined_and_rejoins_the_deployment_of_the_rest") {
  std::vector<MarkedServer> servers = marked_servers(5);
  for (const NodeIndex node : {0U, 1U, 2U}) restart(servers[node]);
  GuardedClient one = guarded_client(servers);
  one.guard.want_grants(at(0ms), one.outbox);
  for (const NodeIndex node : {0U, 1U, 2U}) one.connect(node, at(0ms));
  one.settle(at(0ms));
  CHECK(one.guard.beginning().empty());
  for (const NodeIndex node : {3U, 4U}) one.connect(node, at(30s));
  one.settle(at(30s));
  CHECK(one.admitted() == 2);
  for (const NodeIndex node : {0U, 1U, 2U}) {
    CHECK(servers[node].data.marker.starts_with(one.guard.beginning()));
    CHECK(servers[node].is_quarantined(at(500ms) + quarantine - 1ms));
  }
  one.settle(at(502ms) + quarantine);
  CHECK(one.admitted() == 5);
}

TEST_CASE("a_node_flushed_under_a_live_connection_is_detected_when_it_refuses_a_grant") {
  std::vector<MarkedServer> servers = marked_servers();
  GuardedClient one = guarded_client(servers);
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  servers[0].data = {};
  REQUIRE_FALSE(servers[0].grants(one.guard.beginning(), at(1s)));
  one.guard.grant_refused(0, at(1s), one.outbox);
  one.guard.grant_refused(0, at(1s), one.outbox);
  CHECK(one.admitted() == 2);
  CHECK(one.serve(at(1s)) == 1);
  one.settle(at(1s));
  CHECK(servers[0].data.quarantined_until == at(1200ms) + quarantine);
}

TEST_CASE("nodes_that_are_all_flushed_under_live_connections_are_quarantined") {
  std::vector<MarkedServer> servers = marked_servers();
  GuardedClient one = guarded_client(servers);
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  for (NodeIndex node = 0; node < 3; ++node) {
    servers[node].data = {};
    one.guard.grant_refused(node, at(1s), one.outbox);
  }
  one.settle(at(1s));
  CHECK(one.admitted() == 0);
  for (const MarkedServer& server : servers) CHECK(server.is_quarantined(at(1s) + quarantine));
}

TEST_CASE("durable_nodes_vote_at_once_after_a_restart_unless_they_lost_their_data") {
  std::vector<MarkedServer> servers = marked_servers();
  restart(servers[0], servers[0].data);
  restart(servers[1]);
  RestartGuard::Settings settings = example_guard();
  settings.durable = true;
  GuardedClient one{servers, settings};
  one.connect_all(at(0ms));
  CHECK(one.admitted() == 2);
  one.settle(at(0ms));
  CHECK(one.admitted() == 2);
  CHECK(one.guard.admits(0));
  CHECK(Marker::parse(servers[0].data.marker)->run_id == "run0'");
  CHECK(servers[1].is_quarantined(at(60s)));
}

// ── cases for the administrator ────────────────────────────────────────────────────────────────────────────

TEST_CASE("clients_that_disagree_on_the_nodes_or_max_ttl_report_both_values") {
  std::vector<MarkedServer> servers = marked_servers();
  RestartGuard::Settings other_ttl = example_guard();
  other_ttl.max_ttl = 30s;
  GuardedClient one{servers, other_ttl};
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  CHECK(one.admitted() == 0);
  CHECK_THAT(one.objection(0, at(0ms)),
             contains("other deployment: its marker says max_ttl 60000 ms, but this client has 30000 ms") &&
                 contains("delete redlock:node on every node"));
  GuardedClient two{servers, example_guard(5)};
  for (NodeIndex node = 0; node < 3; ++node) two.connect(node, at(0ms));
  CHECK_THAT(two.objection(0, at(0ms)), contains("its marker says 3 nodes, but this client has 5"));
  CHECK(two.outbox.sent().empty());
}

TEST_CASE("a_node_of_another_deployment_than_the_majority_does_not_vote") {
  std::vector<MarkedServer> servers = marked_servers();
  std::vector<MarkedServer> others{{"other0", {}}, {"other1", {}}, {"other2", {}}};
  GuardedClient{others, example_guard()}.connect_all(at(0ms));
  GuardedClient other = guarded_client(others);
  other.connect_all(at(0ms));
  other.settle(at(0ms));
  servers[0] = others[0];
  GuardedClient one = guarded_client(servers);
  one.connect_all(at(1s));  // the marker that is read first is of the wrong deployment
  one.settle(at(1s));
  CHECK(one.admitted() == 2);
  CHECK_FALSE(one.guard.admits(0));
  CHECK_THAT(one.objection(0, at(1s)), contains("other deployment: its marker names deployment " +
                                                name_of({"other0", "other1", "other2"})));
  CHECK(servers[0].data == others[0].data);
}

TEST_CASE("nothing_is_written_while_no_deployment_has_a_majority") {
  std::vector<MarkedServer> servers = marked_servers(4);
  std::vector<MarkedServer> others{{"o0", {}}, {"o1", {}}, {"o2", {}}, {"o3", {}}};
  GuardedClient other = guarded_client(others);
  other.connect_all(at(0ms));
  other.settle(at(0ms));
  servers[0] = others[0];
  servers[1] = others[1];
  GuardedClient one = guarded_client(servers);
  one.guard.want_grants(at(0ms), one.outbox);
  // The first marker names the deployment until a majority is known.
  one.connect_all(at(1s));
  CHECK(one.outbox.sent().empty());
  CHECK(one.admitted() == 2);
}

TEST_CASE("a_marker_key_with_foreign_content_is_left_alone") {
  std::vector<MarkedServer> servers = marked_servers();
  for (const std::string text : {"hello", "redlock 2 deployment=x nodes=3 max_ttl=60000 node=a run_id=b",
                                 "redlock 1 deployment= nodes=3 max_ttl=60000 node=a run_id=b",
                                 "redlock 1 deployment=x nodes=3x max_ttl=60000 node=a run_id=b"}) {
    CAPTURE(text);
    servers[0].data.marker = text;
    GuardedClient one = guarded_client(servers);
    one.connect_all(at(0ms));
    one.settle(at(0ms));
    CHECK(one.admitted() == 2);
    CHECK(one.objection(0, at(0ms)) == "other deployment: redlock:node does not contain a marker: " + text);
    CHECK(servers[0].data.marker == text);
  }
}

TEST_CASE("a_node_whose_marker_cannot_be_read_reports_why_and_is_asked_again_after_a_second") {
  std::vector<MarkedServer> servers = marked_servers();
  GuardedClient one = guarded_client(servers);
  one.connect(0, at(0ms));
  one.connect(1, at(0ms));
  one.guard.connected(2, "run2", error_reply("NOPERM no permissions"), at(0ms), one.outbox);
  one.guard.want_grants(at(999ms), one.outbox);
  CHECK(one.outbox.sent().empty());
  CHECK(one.objection(2, at(1s)) == "no permission: NOPERM no permissions");
  one.guard.want_grants(at(1s), one.outbox);
  CHECK(one.serve(at(1s)) == 1);
  CHECK(one.admitted() == 3);
}

TEST_CASE("a_server_without_a_run_id_votes_only_if_it_is_durable") {
  std::vector<MarkedServer> servers = fresh_servers();
  servers[0].run_id.clear();
  GuardedClient one = guarded_client(servers);
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  CHECK_THAT(one.objection(0, at(0ms)), contains("server error: does not report its run_id"));
  RestartGuard::Settings settings = example_guard();
  settings.durable = true;
  servers = fresh_servers();
  servers[0].run_id.clear();
  GuardedClient durable{servers, settings};
  durable.connect_all(at(0ms));
  durable.settle(at(0ms));
  CHECK(durable.admitted() == 3);
}

TEST_CASE("a_quarantine_without_an_expiry_names_the_key_to_delete") {
  std::vector<MarkedServer> servers = marked_servers();
  GuardedClient one = guarded_client(servers);
  Reply reply = servers[0].look(at(0ms));
  reply.elements[1].integer = -1;
  one.guard.connected(0, "run0", reply, at(0ms), one.outbox);
  CHECK(one.objection(0, at(0ms)) ==
        "quarantined: votes again once redlock:quarantine, which has no ttl, is deleted");
}
