// redlock nodes: whether each node votes, and what follows for all of them.
#include <string>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/proxy.hpp"
#include "support/network/raw_client.hpp"
#include "tool/deployment.hpp"
#include "tool/nodes/doctor.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::tool::Severity;

TEST_CASE("healthy_nodes_are_reported_as_healthy_with_exit_code_0") {
  const ThreeHosts f;
  start_deployment(f.nodes, f.urls);
  REQUIRE(eventually([&] { return run_tool({"nodes"}, f.urls).code == 0; }));  // slow on a busy machine
  const Diagnosis healthy{f.urls};
  CHECK(healthy.all["votes"] == 3);
  CHECK(healthy.all["needed"] == 2);
  CHECK(healthy.all["max_ttl_ms"] == 60'000);
  CHECK(healthy.all["deployment"].get<std::string>().size() == 16);
  REQUIRE(healthy.all["nodes"].size() == 3);
  for (const auto& node : healthy.all["nodes"]) {
    CHECK(node["state"] == "voting");
    CHECK(node["votes"] == true);
    CHECK(node["role"] == "master");
    CHECK(node["mode"] == "standalone");
    CHECK(node["run_id"].get<std::string>().size() == 40);
    CHECK(node["uptime_s"] >= 0);
    CHECK(node["appends"] == false);
    CHECK(node["save"] == "");
    CHECK(node["eviction_policy"] == "noeviction");
    CHECK(node["memory_limit"] == 0);
    CHECK(node["memory_used"] > 0);
    CHECK(node["deployment"] == healthy.all["deployment"]);
    CHECK(node["missing_rights"].empty());
    CHECK(node["unseen"].empty());
    CHECK(node["round_trip_ms"] > 0);
    // The server reads the same clocks as this machine, so only the uncertainty is left.
    CHECK(std::abs(node["clock"]["offset_ms"].get<double>()) <=
          node["clock"]["offset_uncertainty_ms"].get<double>() + 1);
    CHECK(std::abs(node["clock"]["rate"].get<double>()) <=
          node["clock"]["rate_uncertainty"].get<double>() + 0.001);
  }
}

TEST_CASE("the_table_says_the_same_in_sentences") {
  ThreeHosts f;
  start_deployment(f.nodes, f.urls);
  f.nodes.kill(2);
  const std::string version = RawClient{f.nodes.port(0)}.info("redis_version").value();
  const Program::Ending table = run_tool({"nodes"}, f.urls);
  CHECK(table.code == 1);
  CHECK(table.errors.empty());
  CHECK(table.output.starts_with("NODE "));
  CHECK_THAT(table.output, contains(f.urls[0]) && contains("  voting       " + version) &&
                               contains("  master  ") && contains("  noeviction  no limit  ") &&
                               contains(" of 250 ms\n") &&
                               contains("\n2 of 3 nodes vote, 2 are needed. Deployment "));
  CHECK_THAT(
      table.output,
      contains(
          "\ndegraded: 2 of 3 nodes vote, and 2 are needed: the next node that fails stops all locks. ") &&
          contains("\ndegraded: " + f.urls[2] +
                   ": does not vote: unreachable (Connection refused). Start the server, or correct "
                   "its address.\n") &&
          contains("\nDegraded: locks can be had.\n"));
}

TEST_CASE("a_diagnosis_writes_nothing_to_new_or_used_nodes") {
  const ThreeHosts f;
  const auto keys = [&] {
    std::vector<std::vector<std::string>> all;
    for (RawClient& server : Observers{f.nodes}) all.push_back(server.keys());
    return all;
  };
  const Diagnosis unused{f.urls};
  CHECK(unused.state(0) == "new");
  CHECK(unused.all["votes"] == 3);
  CHECK(Observers{f.nodes}.empty() == 3);
  start_deployment(f.nodes, f.urls);
  const auto before = keys();
  CHECK(Findings{f.urls}.state(0) == "voting");
  CHECK(keys() == before);
  for (RawClient& server : Observers{f.nodes}) CHECK(server.command({"ACL", "LOG"}) == "[]");
}

TEST_CASE("a_node_that_is_down_degrades_and_a_missing_majority_is_unsafe") {
  ThreeHosts f;
  start_deployment(f.nodes, f.urls);
  f.nodes.kill(0);
  const Diagnosis one{f.urls};
  CHECK(one.code == 1);
  CHECK(one.state(0) == "unreachable");
  CHECK(one.all["nodes"][0]["unseen"] == nlohmann::json{"everything else"});
  CHECK(one.has("not_voting", f.urls[0]));
  CHECK(one.has("few_votes"));
  CHECK_FALSE(one.has("no_quorum"));
  f.nodes.kill(1);
  const Diagnosis two{f.urls};
  CHECK(two.code == 2);
  CHECK(two.all["state"] == "unsafe");
  CHECK(two.finding("no_quorum")["text"] == "1 of 3 nodes votes, and 2 are needed: no lock can be had");
}

TEST_CASE("a_node_that_lost_its_data_is_shown_with_the_time_until_it_votes") {
  ThreeHosts f;
  start_deployment(f.nodes, f.urls);
  f.nodes.restart_empty(1);
  const Diagnosis unnoticed{f.urls};
  CHECK(unnoticed.state(1) == "quarantined");
  CHECK_THAT(unnoticed.finding("not_voting", f.urls[1])["advice"].get<std::string>(),
             contains("redlock nodes --wait"));
  REQUIRE(eventually([&] {
    static_cast<void>(run_tool({"nodes", "--wait", "--timeout", "500ms"}, f.urls));  // marks it again
    return Observers{f.nodes}.having("redlock:quarantine") == 1;
  }));
  const Diagnosis waiting{f.urls};
  CHECK(waiting.code == 1);
  CHECK(waiting.state(1).starts_with("quarantined, "));
  CHECK(waiting.state(1).ends_with(" s left"));
  CHECK(waiting.all["nodes"][1]["votes_in_ms"] > 0);
  CHECK(waiting.finding("not_voting", f.urls[1])["advice"] == "Wait: it votes again by itself.");
}

TEST_CASE("without_a_majority_it_says_when_enough_nodes_vote_again") {
  ThreeHosts f;
  start_deployment(f.nodes, f.urls);
  for (int node = 0; node < 2; ++node) f.nodes.restart_empty(node);
  REQUIRE(eventually([&] {
    static_cast<void>(run_tool({"run", "--ttl", "1s", "-n", "--node-wait", "0", "r", "--", "true"}, f.urls));
    return Observers{f.nodes}.having("redlock:quarantine") == 2;
  }));
  const Findings both{f.urls};
  CHECK(both.worst() == Severity::unsafe);
  CHECK(both.finding("no_quorum").advice.starts_with("Wait: enough nodes vote again in "));
}

TEST_CASE("a_replica_does_not_vote") {
  ThreeHosts f;
  start_deployment(f.nodes, f.urls);
  REQUIRE(RawClient{f.nodes.port(2)}.command({"REPLICAOF", "127.0.0.1", std::to_string(f.nodes.port(0))}) ==
          "OK");
  const Findings found{f.urls};
  CHECK(found.worst() == Severity::degraded);
  CHECK(found.state(2) == "replica");
  CHECK(found.survey.nodes[2].facts.role == "slave");
  CHECK(found.finding("not_voting", f.urls[2]).advice == "List independent masters only.");
}

TEST_CASE("a_server_under_two_names_votes_once") {
  const ThreeHosts f;
  start_deployment(f.nodes, f.urls);
  const std::string second = "redis://127.0.0.2:" + std::to_string(f.nodes.port(0));
  const std::vector<std::string> urls{f.urls[0], second, f.urls[1]};
  const Findings twice{urls};
  CHECK(twice.worst() == Severity::degraded);
  CHECK(twice.survey.votes() == 2);
  const std::size_t other = twice.state(0) == "voting" ? 1 : 0;
  CHECK(twice.state(other) == "same node");
  CHECK(twice.finding("not_voting", urls[other]).advice == "List each server once.");
}

TEST_CASE("a_node_of_another_deployment_is_named") {
  const ThreeHosts one;
  const ThreeHosts other;
  start_deployment(one.nodes, one.urls);
  start_deployment(other.nodes, other.urls);
  const Findings mixed{{one.urls[0], one.urls[1], other.urls[2]}};
  CHECK(mixed.worst() == Severity::degraded);
  CHECK(mixed.state(2) == "other deployment");
  CHECK(mixed.has("not_voting", other.urls[2]));
}

TEST_CASE("an_even_number_of_nodes_and_a_single_host_are_found") {
  const LocalNodes nodes{4};
  const Findings four{nodes.urls()};
  CHECK(four.worst() == Severity::degraded);
  CHECK(four.finding("even_number").text == "4 nodes tolerate no more failures than 3");
  CHECK(four.has("one_host"));
  const Findings one{{nodes.url(0)}};
  CHECK(one.worst() == Severity::degraded);
  CHECK(one.has("one_node"));
  CHECK_FALSE(one.has("even_number"));
  CHECK_FALSE(one.has("one_host"));
  const Findings sockets{
      {"unix://" + nodes.socket_path(0), "unix://" + nodes.socket_path(1), "unix://" + nodes.socket_path(2)}};
  CHECK(sockets.finding("one_host").text.find("this machine") != std::string::npos);
}

TEST_CASE("a_single_host_is_found_although_a_node_on_it_is_down") {
  LocalNodes nodes{3};
  std::vector<std::string> urls;
  for (int node = 0; node < 3; ++node)
    urls.push_back("redis://localhost:" + std::to_string(nodes.port(node)));
  nodes.kill(0);
  CHECK(Findings{urls}.has("one_host"));
}

TEST_CASE("a_node_that_accepts_and_never_answers_does_not_delay_the_others") {
  ThreeHosts f;
  start_deployment(f.nodes, f.urls);
  f.nodes.pause(1);
  const Diagnosis all{f.urls};
  CHECK(all.code == 1);
  CHECK(all.state(1) == "timed out");
  CHECK(all.all["nodes"][1]["unseen"] == nlohmann::json{"everything else"});
  CHECK(all.all["nodes"][0]["unseen"].empty());
  CHECK(all.all["nodes"][2]["unseen"].empty());
}

TEST_CASE("a_node_that_is_slower_than_clients_wait_does_not_vote_and_a_slow_one_degrades") {
  const LocalNodes nodes{3};
  start_deployment(nodes);
  Proxy proxy{nodes.port(1)};
  const std::vector<std::string> urls{nodes.url(0), proxy.url(), nodes.url(2)};
  proxy.set_delay(0ms, 300ms);
  const Findings far{urls};
  CHECK(far.worst() == Severity::degraded);
  CHECK(far.state(1) == "timed out");
  CHECK_THAT(far.finding("not_voting", proxy.url()).text,
             contains("its fastest answer took ") && contains("clients wait for 250 ms"));
  proxy.set_delay(0ms, 150ms);
  const Findings slow{urls};
  CHECK(slow.worst() == Severity::degraded);
  CHECK(slow.survey.nodes[1].facts.round_trip >= 150ms);
  CHECK(
      slow.has(slow.state(1) == "voting" ? "slow" : "not_voting", proxy.url()));  // a busy machine adds to it
}

TEST_CASE("a_node_that_stops_answering_while_it_is_asked_is_seen_in_part") {
  const LocalNodes nodes{3};
  start_deployment(nodes);
  Proxy proxy{nodes.port(1)};
  proxy.flood("+OK\r\n", "CONFIG");  // answers without end, and only to the questions of this command
  const Diagnosis all{{nodes.url(0), proxy.url(), nodes.url(2)}};
  CHECK(all.code == 1);
  CHECK(all.state(1) == "voting");
  CHECK_FALSE(all.all["nodes"][1]["unseen"].empty());
}

TEST_CASE("what_a_hostile_server_says_is_made_printable") {
  const LocalNodes nodes{3};
  start_deployment(nodes);
  Proxy proxy{nodes.port(1)};
  proxy.replace("maxmemory_policy:noeviction", "maxmemory_policy:\x1b[2J\x80\x07xxxx");  // of the same length
  const std::vector<std::string> urls{nodes.url(0), proxy.url(), nodes.url(2)};
  const Program::Ending table = run_tool({"nodes"}, urls);
  CHECK(table.code == 1);
  CHECK(table.output.find('\x1b') == std::string::npos);
  CHECK_THAT(table.output, contains("\\x1b[2J\\x80\\x07xxxx"));
  CHECK(Diagnosis{urls}.text.find('\x1b') == std::string::npos);
}

TEST_CASE("no_password_is_in_what_redlock_nodes_says") {
  const LocalNodes nodes{3, {.password = "swordfish"}};
  const std::string wrong = "redis://:sardine@127.0.0.1:" + std::to_string(nodes.port(2));
  const std::vector<std::string> urls{nodes.url(0), nodes.url(1), wrong};
  const Diagnosis all{urls};
  CHECK(all.code == 1);
  CHECK(all.state(2) == "wrong password");
  const Program::Ending table = run_tool({"nodes"}, urls);
  for (const std::string& text : {all.text, table.output, table.errors})
    for (const char* const password : {"swordfish", "sardine"})
      CHECK(text.find(password) == std::string::npos);
}
