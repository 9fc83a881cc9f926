// The limits of ttls, which belong to the nodes: which locks clients may take, and how long nodes wait.
#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "redlock/core/restart_guard/restart_guard.hpp"
#include "support/catch.hpp"
#include "unit/support/guarded_nodes.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using namespace redlock::core;
using redlock::NodeStatus;
using std::chrono::milliseconds;

GuardedClient client_with(std::vector<MarkedServer>& servers, milliseconds max_ttl, bool strict = false) {
  RestartGuard::Settings settings = example_guard(servers.size());
  settings.max_ttl = max_ttl;
  settings.strict = strict;
  return GuardedClient{servers, settings};
}

/// Servers that were marked 24 hours ago.
std::vector<MarkedServer> marked_servers(milliseconds max_ttl) {
  std::vector<MarkedServer> servers = fresh_servers();
  GuardedClient first = client_with(servers, max_ttl);
  first.connect_all(at(-24h));
  first.settle(at(-24h));
  REQUIRE(first.admitted() == 3);
  return servers;
}

/// Writes the limits into the markers, as `CeilingRaise` does.
void raise(std::vector<MarkedServer>& servers, const TtlLimits& limits) {
  for (MarkedServer& server : servers) {
    Marker marker = *Marker::parse(server.data.marker);
    marker.limits = limits;
    server.data.marker = marker.text();
  }
}

TtlLimits limits_of(const MarkedServer& server) { return Marker::parse(server.data.marker)->limits; }

/// A call that needs locks of this ttl. Returns how many nodes may grant it.
std::size_t granting(GuardedClient& client, milliseconds ttl, Time now) {
  client.guard.want_grants(now, client.outbox, ttl);
  client.serve(now);
  std::size_t count = 0;
  for (NodeIndex node = 0; node < client.servers.size(); ++node)
    count += client.guard.admits(node, ttl) ? 1 : 0;
  return count;
}

void restart(GuardedClient& client, NodeIndex node, const MarkedServer::Data& data, Time now) {
  client.servers[node].run_id += "'";
  client.servers[node].data = data;
  client.disconnect(node, now);
  client.connect(node, now);
}

}  // namespace

TEST_CASE("a_new_deployment_gets_max_ttl_of_the_client_that_begins_it_and_all_others_follow") {
  std::vector<MarkedServer> servers = marked_servers(60s);
  for (const milliseconds own : {30000ms, 60000ms, 300000ms}) {
    CAPTURE(own.count());
    GuardedClient one = client_with(servers, own);
    one.connect_all(at(0ms));
    CHECK(granting(one, 60s, at(0ms)) == 3);
    CHECK(granting(one, 60001ms, at(0ms)) == 0);
    const Trouble* const trouble = one.guard.objection(0, at(0ms), 300s);
    REQUIRE(trouble);
    CHECK(trouble->status == NodeStatus::ttl_too_long);
    CHECK(trouble->message ==
          "the ttl, with any lock_delay, is 300 s, but max_ttl of these nodes is 60 s; to raise it: redlock "
          "nodes set "
          "--max-ttl 300s");
  }
  RestartGuard::Settings settings = example_guard();
  settings.keys = MarkerKeys{"app:"};
  std::vector<MarkedServer> others = fresh_servers();
  GuardedClient one{others, settings};
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  CHECK(one.guard.objection(0, at(0ms), 61s)->message.ends_with("nodes set --max-ttl 61s --key-prefix app:"));
}

TEST_CASE("clients_with_other_options_that_find_new_nodes_at_the_same_time_begin_one_deployment") {
  for (unsigned order = 0; order < 300; ++order) {
    CAPTURE(order);
    std::mt19937 random{order};
    std::vector<MarkedServer> servers = fresh_servers();
    GuardedClient one = client_with(servers, 60s);
    GuardedClient two = client_with(servers, 300s);
    for (GuardedClient* const client : {&one, &two}) {
      client->guard.want_grants(at(0ms), client->outbox);
      client->connect_all(at(0ms));
      client->guard.timed_out(at(200ms), client->outbox);
    }
    for (int idle = 0; idle < 20;)
      idle = (random() % 2 == 0 ? one : two).serve_any(random(), at(201ms)) ? 0 : idle + 1;
    one.settle(at(202ms));
    two.settle(at(202ms));
    CHECK(one.admitted() == 3);
    CHECK(two.admitted() == 3);
    for (const MarkedServer& server : servers) CHECK(limits_of(server) == limits_of(servers[0]));
  }
}

TEST_CASE("a_living_client_follows_a_raised_max_ttl_while_it_goes_on_granting") {
  std::vector<MarkedServer> servers = marked_servers(60s);
  GuardedClient one = client_with(servers, 60s);
  one.connect_all(at(0ms));
  REQUIRE(granting(one, 60s, at(0ms)) == 3);
  raise(servers, {60s, 300s});
  CHECK(granting(one, 300s, at(1s)) == 0);
  raise(servers, {300s, 300s});
  one.guard.want_grants(at(2s), one.outbox, 300s);
  for (NodeIndex node = 0; node < 3; ++node) {
    CHECK(one.guard.admits(node, 60s));
    CHECK(one.guard.is_deciding(node, 300s));
    CHECK_FALSE(one.guard.is_deciding(node, 60s));
  }
  CHECK(one.serve(at(2s)) == 3);
  CHECK(granting(one, 300s, at(2s)) == 3);
}

TEST_CASE("a_call_for_a_longer_ttl_does_not_rely_on_a_look_that_was_sent_before_it") {
  std::vector<MarkedServer> servers = marked_servers(60s);
  GuardedClient one = client_with(servers, 60s);
  one.connect_all(at(0ms));
  REQUIRE(granting(one, 60s, at(0ms)) == 3);
  one.guard.want_grants(at(1s), one.outbox, 300s);
  const std::vector<Sent> looks = one.outbox.take();
  REQUIRE(looks.size() == 3);
  std::vector<Reply> replies;
  for (const Sent& look : looks)
    replies.push_back(servers[look.node].execute(words_of(look.command), at(1s)));
  raise(servers, {300s, 300s});
  one.guard.want_grants(at(1s), one.outbox, 300s);
  for (std::size_t i = 0; i < 3; ++i) one.guard.answered(looks[i].node, 0, replies[i], at(1s), one.outbox);
  for (NodeIndex node = 0; node < 3; ++node) CHECK(one.guard.is_deciding(node, 300s));
  CHECK(one.serve(at(1s)) == 3);
  for (NodeIndex node = 0; node < 3; ++node) CHECK(one.guard.admits(node, 300s));
}

TEST_CASE("a_node_that_lost_its_data_waits_for_the_ceiling_that_the_others_have_by_then") {
  std::vector<MarkedServer> servers = marked_servers(60s);
  GuardedClient one = client_with(servers, 60s);
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  raise(servers, {300s, 300s});  // unnoticed by the client
  restart(one, 2, {}, at(1s));
  one.settle(at(1s));
  CHECK(servers[2].is_quarantined(at(300s)));
  CHECK(limits_of(servers[2]) == TtlLimits{300s, 300s});

  const MarkedServer::Data snapshot = marked_servers(60s)[1].data;
  restart(one, 1, snapshot, at(2s));
  one.settle(at(2s));
  CHECK(servers[1].is_quarantined(at(300s)));
  CHECK(limits_of(servers[1]) == TtlLimits{300s, 300s});
}

TEST_CASE("a_client_that_does_not_know_yet_that_another_node_was_marked_asks_before_it_marks_one") {
  std::vector<MarkedServer> servers = marked_servers(60s);
  const MarkedServer::Data snapshot = servers[0].data;
  raise(servers, {300s, 300s});
  const MarkedServer marked_by_another = servers[1];
  servers[1].data = {};
  GuardedClient one = client_with(servers, 60s);
  one.connect(0, at(0ms));
  one.connect(1, at(0ms));  // has no marker
  servers[1] = marked_by_another;
  one.guard.want_grants(at(1ms), one.outbox);
  restart(one, 0, snapshot, at(2ms));
  one.settle(at(2ms));
  CHECK(servers[0].is_quarantined(at(300s)));
  CHECK(limits_of(servers[0]) == TtlLimits{300s, 300s});
}

TEST_CASE("a_node_that_waited_without_a_name_for_shorter_locks_waits_again_when_it_joins") {
  for (const milliseconds own : {60000ms, 300000ms}) {
    CAPTURE(own.count());
    std::vector<MarkedServer> servers = marked_servers(300s);
    const MarkedServer kept[] = {servers[0], servers[1]};
    servers[2].data = {};
    GuardedClient one = client_with(servers, own);  // reaches only the node that lost its data
    one.guard.want_grants(at(0ms), one.outbox);
    one.connect(2, at(0ms));
    one.settle(at(0ms));
    REQUIRE(servers[2].data.marker.find("=none ") != std::string::npos);
    CHECK(servers[2].is_quarantined(at(60s)));
    GuardedClient two = client_with(servers, 60s);
    const Time later = at(290s);
    two.connect_all(later);
    two.settle(later);
    CHECK(servers[2].data.marker.starts_with(two.guard.required_marker().beginning));
    CHECK(servers[2].is_quarantined(at(500s)) == (own == 60s));
    CHECK(servers[0].data == kept[0].data);
  }
}

TEST_CASE("a_client_that_finds_all_markers_gone_marks_the_nodes_with_the_limits_that_it_knows") {
  for (const bool knows_limits : {true, false}) {
    CAPTURE(knows_limits);
    std::vector<MarkedServer> servers = marked_servers(300s);
    GuardedClient one = client_with(servers, 60s);
    one.connect(0, at(0ms));
    if (knows_limits) one.connect(1, at(0ms));  // a majority
    for (MarkedServer& server : servers) server.data = {};
    one.connect(2, at(1ms));
    one.guard.grant_refused(0, at(1ms), one.outbox);
    if (knows_limits) one.guard.grant_refused(1, at(1ms), one.outbox);
    one.settle(at(1ms));
    const milliseconds known = knows_limits ? 300s : 60s;
    CHECK(servers[2].is_quarantined(at(known)));
    for (const NodeIndex node : {0U, 2U}) CHECK(limits_of(servers[node]) == TtlLimits{known, known});
  }
}

TEST_CASE("an_option_that_exceeds_the_ceiling_prolongs_the_quarantine_but_is_not_written") {
  std::vector<MarkedServer> servers = marked_servers(60s);
  GuardedClient one = client_with(servers, 300s);
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  restart(one, 2, {}, at(1s));
  one.settle(at(1s));
  CHECK(servers[2].is_quarantined(at(300s)));
  CHECK(limits_of(servers[2]) == TtlLimits{60s, 60s});
}

TEST_CASE("a_client_that_reaches_only_a_node_without_its_data_does_not_mark_it") {
  std::vector<MarkedServer> servers = marked_servers(60s);
  GuardedClient one = client_with(servers, 60s);
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  for (const NodeIndex node : {0U, 1U}) one.disconnect(node, at(1s));
  raise(servers, {300s, 300s});  // while it is cut off
  restart(one, 2, {}, at(2s));
  one.settle(at(2s));
  CHECK(servers[2].data.marker.empty());
  one.connect(1, at(5s));
  one.settle(at(5s));
  CHECK(servers[2].is_quarantined(at(300s)));
  CHECK(limits_of(servers[2]) == TtlLimits{300s, 300s});
}

TEST_CASE("a_living_strict_client_notices_a_raised_ceiling_within_a_second") {
  std::vector<MarkedServer> servers = marked_servers(60s);
  GuardedClient one = client_with(servers, 60s, true);
  one.connect_all(at(0ms));
  CHECK(granting(one, 60s, at(0ms)) == 3);
  raise(servers, {60s, 300s});
  CHECK(granting(one, 60s, at(999ms)) == 3);
  CHECK(granting(one, 60s, at(1s)) == 0);
}

TEST_CASE("a_strict_client_gets_no_lock_on_nodes_that_allow_longer_locks_than_its_own_max_ttl") {
  std::vector<MarkedServer> servers = marked_servers(60s);
  raise(servers, {60s, 300s});
  GuardedClient one = client_with(servers, 60s, true);
  one.connect_all(at(0ms));
  one.settle(at(0ms));
  CHECK(one.admitted() == 0);
  CHECK(one.objection(0, at(0ms)) ==
        "other deployment: locks on these nodes may live for 300 s, but max_ttl of this client is 60 s, and "
        "the "
        "strict restart guard needs at least as much");
  GuardedClient two = client_with(servers, 300s, true);
  two.connect_all(at(0ms));
  two.settle(at(0ms));
  CHECK(two.admitted() == 3);
}

TEST_CASE("one_node_with_a_false_max_ttl_allows_no_longer_locks") {
  std::vector<MarkedServer> servers = marked_servers(60s);
  Marker marker = *Marker::parse(servers[0].data.marker);
  marker.limits = {24h, 24h};
  servers[0].data.marker = marker.text();
  GuardedClient one = client_with(servers, 60s);
  one.connect_all(at(0ms));
  CHECK(granting(one, 61s, at(0ms)) == 0);
  CHECK(granting(one, 60s, at(0ms)) == 3);
}

TEST_CASE("markers_with_limits_that_no_client_writes_are_not_understood") {
  const std::string before = "redlock 1 deployment=0123456789abcdef nodes=3 ";
  const std::string after = " node=0123456789abcdef run_id=b";
  for (const std::string limits :
       {"max_ttl=0", "max_ttl=-1", "max_ttl=60000 ceiling=59999",
        "max_ttl=60000 ceiling=", "max_ttl=60000 ceiling=9x", "ceiling=60000", "max_ttl=31536000001",
        "max_ttl=60000 ceiling=31536000001", "max_ttl=99999999999999999999"})
    CHECK_FALSE(Marker::parse(before + limits + after));
  for (const std::string limits : {"max_ttl=60000", "max_ttl=60000 ceiling=300000", "max_ttl=31536000000"}) {
    const auto marker = Marker::parse(before + limits + after);
    REQUIRE(marker);
    CHECK(marker->text() == before + limits + after);
  }
}
