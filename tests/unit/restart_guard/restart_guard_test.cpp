#include "redlock/core/restart_guard/restart_guard.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <utility>
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

/// Servers with the run ids "o0", "o1", …, which were marked at the beginning of the test.
std::vector<MarkedServer> servers_of_another_deployment(std::size_t count = 3) {
  std::vector<MarkedServer> servers = fresh_servers(count);
  for (MarkedServer& server : servers) server.run_id.replace(0, 3, "o");
  GuardedClient client = guarded_client(servers);
  client.connect_all(at(0ms));
  client.settle(at(0ms));
  return servers;
}

void restart(MarkedServer& server, const MarkedServer::Data& data = {}) {
  server.run_id += "'";
  server.data = data;
}

/// A call that wants grants from all nodes would wait until the guard's next look.
bool all_are_expected(const GuardedClient& client) {
  for (NodeIndex node = 0; node < client.servers.size(); ++node)
    if (!client.guard.admits(node) &&
        !(client.guard.is_deciding(node) && client.guard.deadline() < client.guard.decided_by()))
      return false;
  return true;
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
  // To each node: the second look, a marker without a name, another look, and the name.
  CHECK(one.on_time(at(201ms)) == 12);
  CHECK(one.admitted() == 3);
  CHECK(one.guard.deadline() == never);
  const auto name_of_node = [](std::size_t node) {
    return name_of({"run" + std::to_string(node), std::to_string(MarkedServer::clock(at(201ms)))});
  };
  const std::string deployment = name_of({name_of_node(0), name_of_node(1), name_of_node(2), "60000"});
  CHECK(one.guard.required_marker().beginning == "redlock 1 deployment=" + deployment + " nodes=3 ");
  CHECK(servers[1].data.marker == std::string{one.guard.required_marker().beginning} +
                                      "max_ttl=60000 node=" + name_of_node(1) + " run_id=run1");
  for (const MarkedServer& server : servers) CHECK_FALSE(server.is_quarantined(at(201ms)));
}

TEST_CASE("a_grant_needs_the_names_of_the_node_and_its_run_unless_nodes_are_durable") {
  std::vector<MarkedServer> servers = fresh_servers();
  GuardedClient one = guarded_client(servers);
  CHECK(one.guard.required_marker(1).ending.empty());  // not known yet
  one.guard.want_grants(at(0ms), one.outbox);
  one.connect_all(at(1ms));
  one.on_time(at(201ms));
  REQUIRE(one.admitted() == 3);
  for (NodeIndex node = 0; node < 3; ++node) {
    CAPTURE(node);
    const std::string ending{one.guard.required_marker(node).ending};
    CHECK_THAT(ending, Catch::Matchers::StartsWith(" node=") &&
                           Catch::Matchers::EndsWith(" run_id=run" + std::to_string(node)));
    for (NodeIndex other = 0; other < 3; ++other)
      CHECK(servers[other].data.marker.ends_with(ending) == (other == node));
  }
  RestartGuard::Settings settings = example_guard();
  settings.durable = true;
  GuardedClient durable{servers, settings};
  durable.connect_all(at(300ms));
  CHECK(durable.admitted() == 3);
  CHECK(durable.guard.required_marker(1).ending.empty());
}

TEST_CASE("a_former_replica_gets_a_name_of_its_own_and_then_its_uptime_counts_again") {
  std::vector<MarkedServer> servers = marked_servers();
  const std::string name = Marker::parse(servers[2].data.marker)->node;
  servers[2].data = servers[0].data;
  GuardedClient one = guarded_client(servers);
  one.guard.want_grants(at(0ms), one.outbox);
  one.connect_all(at(1ms));
  one.settle(at(1ms));
  const std::string new_name = Marker::parse(servers[2].data.marker)->node;
  CHECK(new_name != name);
  CHECK(new_name != Marker::parse(servers[0].data.marker)->node);
  CHECK(servers[2].data.quarantined_until == at(1ms) + quarantine);
  CHECK(Marker::parse(servers[0].data.marker)->run_id == "run0");

  restart(servers[2], {.marker = servers[2].data.marker});
  servers[2].started = at(1h);
  GuardedClient two = guarded_client(servers);
  two.guard.want_grants(at(2h), two.outbox);
  two.connect_all(at(2h));
  two.settle(at(2h));
  CHECK(Marker::parse(servers[2].data.marker)->node == new_name);
  CHECK_FALSE(servers[2].is_quarantined(at(2h)));
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
  one.serve(at(201ms) + quarantine);
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
  // No node is quarantined in the end for any order of the clients' commands.
  for (unsigned order = 0; order < 500; ++order) {
    CAPTURE(order);
    std::mt19937 random{order};
    std::vector<MarkedServer> servers = fresh_servers();
    GuardedClient one = guarded_client(servers);
    GuardedClient two = guarded_client(servers);
    for (GuardedClient* const client : {&one, &two}) {
      client->guard.want_grants(at(0ms), client->outbox);
      client->connect_all(at(0ms));
      client->guard.timed_out(at(200ms), client->outbox);
    }
    for (int idle = 0; idle < 20;)
      idle = (random() % 2 == 0 ? one : two).serve_any(random(), at(201ms)) ? 0 : idle + 1;
    CHECK(all_are_expected(one));
    CHECK(all_are_expected(two));
    one.settle(at(202ms));
    two.settle(at(202ms));
    CHECK(one.admitted() == 3);
    CHECK(two.admitted() == 3);
    CHECK(one.guard.required_marker().beginning == two.guard.required_marker().beginning);
    for (const MarkedServer& server : servers) CHECK_FALSE(server.is_quarantined(at(203ms)));
  }
}

TEST_CASE("a_client_that_arrives_during_marking_does_not_quarantine_the_unmarked_nodes") {
  // The first client has sent some of its commands: looks, markers without a name, looks again, names.
  for (std::size_t sent = 0; sent <= 12; ++sent) {
    CAPTURE(sent);
    std::vector<MarkedServer> servers = fresh_servers();
    GuardedClient one = guarded_client(servers);
    GuardedClient two = guarded_client(servers);
    one.guard.want_grants(at(0ms), one.outbox);
    two.guard.want_grants(at(0ms), two.outbox);
    one.connect_all(at(0ms));
    two.connect_all(at(0ms));
    one.guard.timed_out(at(200ms), one.outbox);
    one.serve_some(sent, at(200ms));
    two.on_time(at(201ms));
    if (sent == 10) CHECK(two.admitted() == 1);  // sees one of three named
    CHECK(all_are_expected(two));
    one.settle(at(202ms));
    two.settle(at(203ms));
    CHECK(one.admitted() == 3);
    CHECK(two.admitted() == 3);
  }
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
  CHECK(one.objection(0, at(500ms)) == "quarantined: restarted 0 ms ago, votes again in 61 s");
  CHECK(servers[0].data.marker == "redlock 1 deployment=none nodes=3 max_ttl=60000 node=" +
                                      name_of({"run0", std::to_string(MarkedServer::clock(at(200ms)))}) +
                                      " run_id=run0");
  one.guard.want_grants(at(501ms) + quarantine, one.outbox);
  CHECK(one.serve(at(501ms) + quarantine) ==
        4);  // the last looks are too old, so the first marks are refused
  CHECK(one.admitted() == 2);

  // A node that connects later is treated as one that lost its data.
  one.connect(2, at(2min));
  one.settle(at(2min));
  CHECK(one.admitted() == 2);
  CHECK(servers[2].data.marker.starts_with(one.guard.required_marker().beginning));
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

TEST_CASE("a_late_mark_of_a_new_deployment_does_not_spare_a_node_its_quarantine") {
  // One client's commands are delayed from any point on before it names a node. Another one begins the deployment.
  for (std::size_t in_time = 0; in_time < 10; ++in_time) {
    CAPTURE(in_time);
    std::vector<MarkedServer> servers = fresh_servers();
    GuardedClient late = guarded_client(servers);
    late.guard.want_grants(at(0ms), late.outbox);
    late.connect_all(at(0ms));
    late.guard.timed_out(at(200ms), late.outbox);
    late.serve_some(in_time, at(200ms));
    GuardedClient other = guarded_client(servers);
    other.connect_all(at(201ms));
    other.settle(at(201ms));
    REQUIRE(other.admitted() == 3);
    for (const MarkedServer& server : servers)
      REQUIRE(server.grants(other.guard.required_marker().beginning, at(402ms)));

    servers[0].data = {};
    late.serve(at(403ms));
    late.settle(at(404ms));
    other.guard.grant_refused(0, at(404ms), other.outbox);
    other.settle(at(404ms));
    CHECK_FALSE(servers[0].grants(other.guard.required_marker().beginning, at(404ms)));
    CHECK(servers[0].is_quarantined(at(403ms) + quarantine - 1ms));
  }
}

TEST_CASE("a_mark_that_is_a_second_late_changes_nothing_and_the_guard_repeats_it") {
  std::vector<MarkedServer> servers = fresh_servers();
  GuardedClient one = guarded_client(servers);
  one.guard.want_grants(at(0ms), one.outbox);
  one.connect_all(at(0ms));
  one.guard.timed_out(at(200ms), one.outbox);
  one.serve_some(3, at(200ms));
  one.serve_some(3, at(1201ms));
  for (const MarkedServer& server : servers) CHECK(server.data.marker.empty());
  one.serve(at(1202ms));
  CHECK(one.admitted() == 3);
}

TEST_CASE("nodes_that_wait_without_a_name_begin_at_once_when_the_last_one_comes") {
  std::vector<MarkedServer> servers = fresh_servers();
  GuardedClient one = guarded_client(servers);
  one.guard.want_grants(at(0ms), one.outbox);
  one.connect(0, at(0ms));
  one.connect(1, at(0ms));
  one.settle(at(0ms));
  CHECK(one.admitted() == 0);
  CHECK(servers[0].is_quarantined(at(60s)));
  one.connect(2, at(5s));
  one.settle(at(5s));
  CHECK(one.admitted() == 3);
  for (const MarkedServer& server : servers) CHECK_FALSE(server.is_quarantined(at(6s)));
}

TEST_CASE("nodes_that_were_without_a_name_at_different_times_only_do_not_begin_at_once") {
  std::vector<MarkedServer> servers = fresh_servers();
  GuardedClient one = guarded_client(servers);
  one.guard.want_grants(at(0ms), one.outbox);
  one.connect(0, at(0ms));
  one.settle(at(0ms));  // node 0 waits without a name
  GuardedClient other = guarded_client(servers);
  other.connect_all(at(1s));
  other.settle(at(1s));
  REQUIRE(other.admitted() == 3);
  // The first client still believes that node 0 waits when it finds the others without their data.
  restart(servers[1]);
  restart(servers[2]);
  one.connect(1, at(2s));
  one.connect(2, at(2s));
  one.settle(at(2s));
  CHECK(one.admitted() == 1);
  for (const NodeIndex node : {1U, 2U}) CHECK(servers[node].is_quarantined(at(2s) + quarantine));
}

TEST_CASE("a_node_that_was_named_while_others_began_without_it_joins_them") {
  const bool strict = GENERATE(false, true);
  const std::size_t count = GENERATE(3U, 5U);
  const std::size_t last = count - 1;
  RestartGuard::Settings settings = example_guard(count);
  settings.strict = strict;
  const Time over = at(501ms) + quarantine;
  std::size_t named_twice = 0;
  // One client does not reach the last node. The other one reaches it just before the others have waited, and has sent some
  // of its commands when the first one names the others.
  for (std::size_t sent = 0; sent <= 5 * count; ++sent) {
    CAPTURE(strict, count, sent);
    std::vector<MarkedServer> servers = fresh_servers(count);
    GuardedClient few{servers, settings};
    GuardedClient all{servers, settings};
    for (GuardedClient* const client : {&few, &all}) {
      for (NodeIndex node = 0; node < last; ++node) client->connect(node, at(0ms));
      client->settle(at(0ms));
    }
    all.connect(last, strict ? over - 2s : over - 200ms);
    if (strict) all.settle(over - 2s);
    if (!strict) all.guard.timed_out(over, all.outbox);
    all.guard.want_grants(over, all.outbox);
    all.serve_some(sent, over);
    few.settle(over);
    const auto name = [&servers](NodeIndex node) {
      const auto marker = Marker::parse(servers[node].data.marker);
      return marker && marker->is_named() ? marker->deployment : "";
    };
    while (all.serve_some(1, over) > 0) named_twice += !name(last).empty() && name(last) != name(0) ? 1 : 0;
    for (const Time now : {over + 1s, over + 3s, over + 4s + quarantine})
      for (GuardedClient* const client : {&few, &all}) client->settle(now);
    few.connect(last, over + 5s + quarantine);
    for (GuardedClient* const client : {&few, &all}) {
      client->settle(over + 7s + quarantine);
      CHECK(client->admitted() == count);
    }
    for (NodeIndex node = 0; node < count; ++node) CHECK(name(node) == name(0));
  }
  CHECK(named_twice > 0);
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
  CHECK(one.on_time(at(10200ms)) == 4);  // looks at it and at the others; the marker with the quarantine
  CHECK(one.admitted() == 2);
  CHECK(one.objection(2, at(14100ms)) == "quarantined: restarted 4 s ago, votes again in 57 s");
  CHECK(servers[2].is_quarantined(at(10200ms) + quarantine - 1ms));
  CHECK_FALSE(servers[2].grants(one.guard.required_marker().beginning, at(70s)));

  // The quarantine ends without any client, and a client that connects in the meantime does not restart it.
  GuardedClient two = guarded_client(servers);
  two.connect_all(at(60s));
  two.settle(at(60s));
  CHECK(two.admitted() == 2);
  CHECK(servers[2].data.quarantined_until == at(10200ms) + quarantine);
  two.guard.want_grants(at(10202ms) + quarantine, two.outbox);
  CHECK(two.admitted() == 3);
  CHECK(servers[2].grants(two.guard.required_marker().beginning, at(10202ms) + quarantine));
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
  CHECK(one.serve(at(0ms)) == 3);  // no second look at it, as there is no doubt, but at the others
  CHECK(one.admitted() == 2);
  CHECK(servers[1].data.quarantined_until == at(0ms) + quarantine);
  CHECK(servers[1].data.marker == std::string{one.guard.required_marker().beginning} + "max_ttl=60000 node=" +
                                      Marker::parse(snapshot.marker)->node + " run_id=run1'");
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

TEST_CASE("a_restart_with_the_marker_is_credited_with_the_time_since") {
  for (const auto& [uptime, left] :
       {std::pair{10s, quarantine - 9s}, {1s, quarantine}, {61s, 602ms}, {62s, 0ms}, {3600s, 0ms}}) {
    CAPTURE(uptime);
    std::vector<MarkedServer> servers = marked_servers();
    for (MarkedServer& server : servers) {
      restart(server, server.data);
      server.started = at(-uptime);
    }
    GuardedClient one = guarded_client(servers);
    one.connect_all(at(0ms));
    one.settle(at(0ms));
    CHECK(one.admitted() == (left == 0ms ? 3 : 0));
    for (const MarkedServer& server : servers) {
      CHECK_FALSE(server.is_quarantined(at(left)));
      CHECK((left == 0ms || server.is_quarantined(at(left) - 1ms)));
    }
  }
}

TEST_CASE("a_restart_is_not_credited_under_strict_nor_without_the_node_s_own_marker") {
  enum class Case { strict, missing, unnamed, of_another_node };
  for (const Case tried : {Case::strict, Case::missing, Case::unnamed, Case::of_another_node}) {
    CAPTURE(tried);
    std::vector<MarkedServer> servers = marked_servers();
    MarkedServer::Data data = servers[tried == Case::of_another_node ? 1 : 0].data;
    if (tried == Case::missing) data = {};
    if (tried == Case::unnamed) data.marker.replace(data.marker.find('=') + 1, 16, no_deployment);
    restart(servers[0], data);
    servers[0].started = at(-1h);
    RestartGuard::Settings settings = example_guard();
    settings.strict = tried == Case::strict;
    GuardedClient one{servers, settings};
    one.connect_all(at(0ms));
    one.settle(at(0ms));
    CHECK(one.admitted() == 2);
    CHECK(servers[0].is_quarantined(at(0ms) + quarantine - 1ms));
  }
}

TEST_CASE("a_majority_that_lost_its_data_is_quarantined_and_rejoins_the_deployment_of_the_rest") {
  std::vector<MarkedServer> servers = marked_servers(5);
  for (const NodeIndex node : {0U, 1U, 2U}) restart(servers[node]);
  GuardedClient one = guarded_client(servers);
  one.guard.want_grants(at(0ms), one.outbox);
  for (const NodeIndex node : {0U, 1U, 2U}) one.connect(node, at(0ms));
  one.settle(at(0ms));
  CHECK(one.guard.required_marker().beginning.empty());
  for (const NodeIndex node : {3U, 4U}) one.connect(node, at(30s));
  one.settle(at(30s));
  CHECK(one.admitted() == 2);
  for (const NodeIndex node : {0U, 1U, 2U}) {
    CHECK(servers[node].data.marker.starts_with(one.guard.required_marker().beginning));
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
  REQUIRE_FALSE(servers[0].grants(one.guard.required_marker().beginning, at(1s)));
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

TEST_CASE("a_client_with_another_number_of_nodes_reports_both_numbers") {
  std::vector<MarkedServer> servers = marked_servers();
  GuardedClient one{servers, example_guard(5)};
  for (NodeIndex node = 0; node < 3; ++node) one.connect(node, at(0ms));
  CHECK_THAT(one.objection(0, at(0ms)), contains("its marker says 3 nodes, but this client has 5") &&
                                            contains("delete redlock:node on every node"));
  CHECK(one.outbox.sent().empty());
}

TEST_CASE("a_node_of_another_deployment_than_the_majority_does_not_vote") {
  std::vector<MarkedServer> servers = marked_servers();
  const std::vector<MarkedServer> others = servers_of_another_deployment();
  servers[0] = others[0];
  GuardedClient one = guarded_client(servers);
  one.connect_all(at(1s));  // the marker that is read first is of the wrong deployment
  one.settle(at(1s));
  CHECK(one.admitted() == 2);
  CHECK_FALSE(one.guard.admits(0));
  CHECK_THAT(one.objection(0, at(1s)), contains("other deployment: its marker names deployment " +
                                                Marker::parse(others[0].data.marker)->deployment));
  CHECK(servers[0].data == others[0].data);
}

TEST_CASE("where_no_name_has_a_majority_the_smallest_of_the_commonest_wins_and_the_others_wait_in_full") {
  std::vector<MarkedServer> servers = marked_servers(4);
  const std::vector<MarkedServer> others = servers_of_another_deployment(4);
  servers[0] = others[0];
  servers[1] = others[1];
  const std::string ours = Marker::parse(servers[2].data.marker)->deployment;
  const std::string theirs = Marker::parse(servers[0].data.marker)->deployment;
  GuardedClient one = guarded_client(servers);
  GuardedClient two = guarded_client(servers);
  one.guard.want_grants(at(0ms), one.outbox);
  one.connect(0, at(1s));
  one.connect(2, at(1s));
  one.settle(at(1s));
  CHECK(one.admitted() == 1);  // it uses the first name that it reads until it has read enough others
  one.connect(1, at(2s));
  one.connect(3, at(2s));
  two.connect_all(at(2s));
  for (GuardedClient* const client : {&one, &two}) client->settle(at(2s));
  for (const MarkedServer& server : servers) {
    CHECK(Marker::parse(server.data.marker)->deployment == std::min(ours, theirs));
    CHECK(server.is_quarantined(at(2s) + quarantine - 1ms) ==
          (server.run_id.starts_with("o") == (ours < theirs)));
  }
  CHECK(one.admitted() == 2);
  CHECK(one.guard.required_marker().beginning == two.guard.required_marker().beginning);
}

// Found by the simulation: all four servers had lost their data. A client that remembered the old name gave it to two of
// them, while a client that knew none gave a new one to the others. The fifth endpoint leads to the first server.
TEST_CASE("the_second_name_of_a_server_does_not_keep_two_names_of_the_others_alive") {
  std::vector<MarkedServer> servers = marked_servers(5);
  const std::vector<MarkedServer> others = servers_of_another_deployment(5);
  servers[2] = others[2];
  servers[3] = others[3];
  const std::string ours = Marker::parse(servers[0].data.marker)->deployment;
  const std::string theirs = Marker::parse(servers[2].data.marker)->deployment;
  REQUIRE(ours != theirs);
  const bool is_second_name = GENERATE(true, false);
  GuardedClient one = guarded_client(servers);
  for (NodeIndex node = 0; node < 4; ++node) one.connect(node, at(1s));
  const Trouble why{is_second_name ? NodeStatus::same_node : NodeStatus::unreachable, "not used"};
  one.guard.disconnected(4, why, at(1s), one.outbox);
  one.settle(at(1s));
  for (NodeIndex node = 0; node < 4; ++node) {
    const bool was_renamed = is_second_name && (node < 2 ? ours : theirs) != std::min(ours, theirs);
    const std::string expected = is_second_name ? std::min(ours, theirs) : node < 2 ? ours : theirs;
    CHECK(Marker::parse(servers[node].data.marker)->deployment == expected);
    CHECK(servers[node].is_quarantined(at(1s) + quarantine - 1ms) == was_renamed);
  }
}

TEST_CASE("a_client_with_a_name_of_a_minority_follows_the_majority") {
  std::vector<MarkedServer> servers = marked_servers();
  const std::vector<MarkedServer> others = servers_of_another_deployment();
  servers[2] = others[2];
  GuardedClient one = guarded_client(servers);
  one.connect(2, at(0ms));
  one.settle(at(0ms));
  CHECK(one.guard.admits(2));
  one.connect(0, at(1s));
  one.connect(1, at(1s));
  one.settle(at(1s));
  CHECK(one.admitted() == 2);
  CHECK_FALSE(one.guard.admits(2));
  CHECK(servers[2].data == others[2].data);
}

TEST_CASE("a_marker_that_is_not_understood_on_a_minority_of_new_nodes_does_not_hold_up_the_others") {
  for (const std::string& text :
       {"redlock 1 deployment=" + std::string(3000, 'a') +
            " nodes=3 max_ttl=60000 node=0123456789abcdef run_id=run0",
        "redlock 1 deployment=" + std::string(300, 'a') +
            " nodes=3 max_ttl=60000 node=0123456789abcdef run_id=run0",
        std::string{
            "redlock 1 deployment=0123456789abcdef nodes=5 max_ttl=60000 node=0123456789abcdef run_id=run0"},
        std::string{"hello"}}) {
    CAPTURE(text);
    std::vector<MarkedServer> servers = fresh_servers();
    servers[0].data.marker = text;
    GuardedClient one = guarded_client(servers);
    one.connect_all(at(0ms));
    one.settle(at(0ms));
    CHECK(one.objection(0, at(1s)).starts_with("other deployment: "));
    for (const NodeIndex node : {1U, 2U}) CHECK(servers[node].is_quarantined(at(60s)));
    one.settle(at(1s) + quarantine);
    CHECK(one.admitted() == 2);
    CHECK(servers[0].data.marker == text);
    CHECK(servers[1].data.marker.find("0123456789abcdef") == std::string::npos);
  }
}

TEST_CASE("a_marker_of_an_earlier_run_in_another_deployment_than_the_majority_is_replaced") {
  std::vector<MarkedServer> servers = marked_servers();
  const std::vector<MarkedServer> others = servers_of_another_deployment();
  servers[0].data = others[0].data;
  GuardedClient one = guarded_client(servers);
  one.connect_all(at(1s));
  one.settle(at(1s));
  CHECK(servers[0].data.marker.starts_with(one.guard.required_marker().beginning));
  CHECK(servers[0].is_quarantined(at(1s) + quarantine - 1ms));
}

TEST_CASE("a_marker_key_with_foreign_content_is_left_alone") {
  std::vector<MarkedServer> servers = marked_servers();
  for (const std::string text :
       {"hello", "redlock 2 deployment=0123456789abcdef nodes=3 max_ttl=60000 node=0123456789abcdef run_id=b",
        "redlock 1 deployment= nodes=3 max_ttl=60000 node=0123456789abcdef run_id=b",
        "redlock 1 deployment=0123456789abcdeg nodes=3 max_ttl=60000 node=0123456789abcdef "
        "run_id=b",
        "redlock 1 deployment=0123456789abcdef nodes=3 max_ttl=60000 node=0123 run_id=b",
        "redlock 1 deployment=0123456789abcdef nodes=3x max_ttl=60000 "
        "node=0123456789abcdef run_id=b"}) {
    CAPTURE(text);
    servers[0].data.marker = text;
    GuardedClient one = guarded_client(servers);
    one.connect_all(at(0ms));
    one.settle(at(0ms));
    CHECK(one.admitted() == 2);
    CHECK(
        one.objection(0, at(0ms)) ==
        "other deployment: redlock:node does not contain a marker; if no other program uses that key, delete "
        "it (found: " +
            text.substr(0, 100) + ")");
    CHECK(servers[0].data.marker == text);
  }
}

TEST_CASE("a_marker_key_of_another_type_is_reported_by_its_name") {
  std::vector<MarkedServer> servers = marked_servers();
  GuardedClient one = guarded_client(servers);
  one.guard.connected(0, error_reply("WRONGTYPE a list"), at(0ms), one.outbox);
  CHECK(one.objection(0, at(0ms)) ==
        "other deployment: redlock:node does not contain a marker; if no other program uses that key, delete "
        "it (found: WRONGTYPE a list)");
}

TEST_CASE("a_node_whose_marker_cannot_be_read_reports_why_and_is_asked_again_after_a_second") {
  std::vector<MarkedServer> servers = marked_servers();
  GuardedClient one = guarded_client(servers);
  one.connect(0, at(0ms));
  one.connect(1, at(0ms));
  one.guard.connected(2, error_reply("NOPERM no permissions"), at(0ms), one.outbox);
  one.guard.want_grants(at(999ms), one.outbox);
  CHECK(one.outbox.sent().empty());
  CHECK(one.objection(2, at(1s)) == "no permission: NOPERM no permissions");
  one.guard.want_grants(at(1s), one.outbox);
  CHECK(one.serve(at(1s)) == 1);
  CHECK(one.admitted() == 3);
}

TEST_CASE("a_node_that_does_not_vote_is_looked_at_again_once_a_second") {
  std::vector<MarkedServer> servers = marked_servers();
  restart(servers[0]);
  servers[1].data.marker = "hello";
  GuardedClient one = guarded_client(servers);
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  REQUIRE(servers[0].is_quarantined(at(60s)));
  CHECK(one.admitted() == 1);
  one.guard.want_grants(at(999ms), one.outbox);
  CHECK(one.serve(at(999ms)) == 0);
  servers[0].data.quarantined_until = Time::min();
  servers[1].data.marker.clear();
  one.guard.want_grants(at(1300ms), one.outbox);
  CHECK(one.serve(at(1300ms)) == 2);
  CHECK(one.guard.admits(0));
  one.settle(at(2300ms));
  CHECK(servers[1].data.marker.starts_with(one.guard.required_marker().beginning));
  servers[1].data.quarantined_until = Time::min();
  one.settle(at(4s));
  CHECK(one.admitted() == 3);
}

TEST_CASE("a_client_that_only_reads_sees_within_a_second_that_another_one_has_marked_a_node") {
  std::vector<MarkedServer> servers = marked_servers();
  restart(servers[0]);
  GuardedClient reader = guarded_client(servers);
  reader.connect_all(at(0ms));
  REQUIRE(reader.guard.caveat(0, at(0ms)));
  GuardedClient other = guarded_client(servers);
  other.connect_all(at(0ms));
  other.settle(at(0ms));
  const auto looks = [&](auto now) {
    for (NodeIndex node = 0; node < 3; ++node) reader.guard.look_again(node, at(now), reader.outbox);
    return reader.serve(at(now));
  };
  CHECK(looks(999ms) == 0);
  CHECK(looks(1s) == 1);
  CHECK(reader.guard.caveat(0, at(1s))->status == NodeStatus::quarantined);
  CHECK(looks(quarantine + 1s) == 0);  // the quarantine is over
  CHECK(reader.guard.caveat(0, at(quarantine + 1s)) == nullptr);
}

TEST_CASE("while_a_reply_about_a_node_without_a_marker_is_due_the_guard_has_no_timer") {
  std::vector<MarkedServer> servers = marked_servers();
  restart(servers[0]);
  servers[0].data = {};
  GuardedClient one = guarded_client(servers);
  one.connect_all(at(0ms));
  REQUIRE(one.guard.deadline() == never);  // nobody wants a lock yet
  one.guard.look_again(0, at(1s), one.outbox);
  one.guard.want_grants(at(1s), one.outbox);
  CHECK(one.guard.is_deciding(0));
  CHECK(one.guard.deadline() == never);  // the second look is due, and its reply too
  CHECK(one.serve(at(1010ms)) > 0);
  CHECK(servers[0].data.marker.starts_with(one.guard.required_marker().beginning));
}

TEST_CASE("a_connection_that_leads_to_another_server_than_before_is_given_up") {
  std::vector<MarkedServer> servers = marked_servers();
  GuardedClient one = guarded_client(servers);
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  REQUIRE(one.admitted() == 3);
  // As behind a proxy that is in front of two servers.
  const MarkedServer before = std::exchange(servers[0], servers[1]);
  one.guard.grant_refused(0, at(1s), one.outbox);
  one.settle(at(1s));
  CHECK(one.outbox.given_up == std::vector<NodeIndex>{0});
  CHECK_THAT(one.objection(0, at(1s)),
             contains("server error: reports another run_id than when the connection was made"));
  CHECK(servers[0].data == servers[1].data);

  servers[0] = before;
  one.disconnect(0, at(2s));
  one.connect(0, at(2s));
  CHECK(one.admitted() == 3);
  CHECK(servers[0].data == before.data);
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
  one.guard.connected(0, reply, at(0ms), one.outbox);
  CHECK(one.objection(0, at(0ms)) ==
        "quarantined: votes again once redlock:quarantine, which has no ttl, is deleted");
}
