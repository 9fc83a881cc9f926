// redlock nodes: settings of the servers, rights of the user, and options that do not fit.
#include <algorithm>
#include <chrono>
#include <regex>
#include <string>
#include <vector>

#include "integration/support/documented_rights.hpp"
#include "integration/support/observers.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/network/raw_client.hpp"
#include "support/project_file.hpp"
#include "tool/nodes/doctor.hpp"
#include "tool/nodes/findings.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::tool::Finding;
using redlock::tool::Severity;
using redlock::tool::Survey;

namespace {

/// Three nodes with a user who has these rights.
struct WithUser {
  explicit WithUser(std::vector<std::string> rights = documented_rights()) {
    start_deployment(f.urls);
    for (int node = 0; node < 3; ++node) {
      std::vector<std::string> command{"ACL", "SETUSER", "app", "reset", "on", ">tuna"};
      command.insert(command.end(), rights.begin(), rights.end());
      REQUIRE(RawClient{f.nodes.port(node)}.command(command) == "OK");
    }
    for (const std::string& url : f.urls) urls.push_back("redis://app:tuna@" + url.substr(8));
  }

  ThreeHosts f;
  std::vector<std::string> urls;
};

std::vector<std::string> without(const std::string& right) {
  std::vector<std::string> rights = documented_rights();
  REQUIRE(std::erase(rights, right) == 1);
  return rights;
}

std::string advice(const Diagnosis& all, const std::string& id, const std::string& node = "") {
  return all.finding(id, node)["advice"];
}

/// Three nodes that vote, without their clocks.
Survey three_voting_nodes() {
  Survey all;
  for (const char* const name : {"a", "b", "c"})
    all.nodes.push_back(
        {.report = {.node = name, .status = redlock::NodeStatus::free, .message = {}, .owner = {}, .ttl = {}},
         .facts = {},
         .host = name});
  return all;
}

}  // namespace

TEST_CASE("the_documented_rights_are_enough_for_a_diagnosis") {
  const WithUser f;
  const Diagnosis all{f.urls, {"--resource", "app:invoices"}};
  CHECK(all.code <= 1);  // a busy machine may look slow
  CHECK(all.all["votes"] == 3);
  for (const auto& node : all.all["nodes"]) {
    CHECK(node["state"] == "voting");
    CHECK(node["missing_rights"].empty());
    CHECK(node["eviction_policy"] == "noeviction");
    CHECK(node.contains("clock"));
    CHECK(node["unseen"] == nlohmann::json{"snapshots (CONFIG GET)"});
  }
  const Program::Ending table = run_tool({"nodes", "--resource", "app:invoices"}, f.urls);
  CHECK_THAT(table.output, contains("\nnot seen: " + f.f.urls[0] + ": snapshots (CONFIG GET)\n"));
}

TEST_CASE("a_user_who_may_not_use_a_made_up_name_is_asked_for_one") {
  const WithUser f;
  const Program::Ending ending = run_tool({"nodes"}, f.urls);
  CHECK(ending.code == 64);
  CHECK(ending.output.empty());
  CHECK_THAT(ending.errors,
             contains("may not use the made-up key redlock-nodes-") && contains("--resource NAME"));
  const Diagnosis wrong{f.urls, {"--resource", "invoices"}};
  CHECK(wrong.code == 2);
  CHECK_THAT(advice(wrong, "missing_rights", f.f.urls[0]),
             contains("ACL SETUSER NAME ~invoices ~redlock:f:{invoices}"));
}

TEST_CASE("every_right_that_locks_need_is_missed_when_it_is_missing") {
  const std::string right =
      GENERATE("+set", "+get", "+getrange", "+del", "+exists", "+pttl", "+pexpire", "+time", "+eval",
               "+evalsha", "+script|load", "+role", "+info", "~redlock:node", "~redlock:quarantine");
  CAPTURE(right);
  const WithUser f{without(right)};
  const Diagnosis all{f.urls, {"--resource", "app:invoices"}};
  CHECK(all.code == 2);
  CHECK(all.all["votes"] == 0);
  CHECK(all.state(0) == "lacks rights");
  CHECK(all.all["nodes"][0]["missing_rights"] == nlohmann::json{right});
  CHECK(advice(all, "missing_rights", f.f.urls[0]) ==
        "Run on the server, with the name of the user: ACL SETUSER NAME " + right);
}

TEST_CASE("a_missing_right_to_listen_degrades") {
  const std::string right = GENERATE("+subscribe", "+ping", "+client|id", "+client|tracking",
                                     "+client|caching", "&__redis__:invalidate");
  CAPTURE(right);
  const WithUser listening{without(right)};
  const Diagnosis deaf{listening.urls, {"--resource", "app:invoices"}};
  CHECK(deaf.code == 1);
  CHECK(deaf.all["votes"] == 3);
  CHECK(deaf.finding("no_tracking", listening.f.urls[0])["severity"] == "degraded");
  CHECK_THAT(advice(deaf, "no_tracking", listening.f.urls[0]), contains("ACL SETUSER NAME " + right));
}

TEST_CASE("a_missing_right_to_be_named_is_a_note") {
  const WithUser f{without("+client|setname")};
  const Diagnosis all{f.urls, {"--resource", "app:invoices"}};
  CHECK(all.finding("no_name", f.f.urls[0])["severity"] == "note");
}

TEST_CASE("a_server_that_may_delete_locks_is_unsafe") {
  const ThreeHosts f;
  start_deployment(f.urls);
  RawClient server{f.nodes.port(1)};
  const std::string policy = GENERATE("allkeys-lru", "volatile-ttl");
  REQUIRE(server.command({"CONFIG", "SET", "maxmemory-policy", policy}) == "OK");
  const Diagnosis unlimited{f.urls};
  CHECK(unlimited.finding("eviction", f.urls[1])["severity"] == "degraded");
  REQUIRE(server.command({"CONFIG", "SET", "maxmemory", "100mb"}) == "OK");
  const Diagnosis limited{f.urls};
  CHECK(limited.code == 2);
  CHECK_THAT(limited.finding("eviction", f.urls[1])["text"].get<std::string>(),
             contains("deletes keys when its memory is full (maxmemory-policy " + policy + ")"));
  CHECK_FALSE(limited.has("eviction", f.urls[0]));
}

TEST_CASE("a_server_that_is_nearly_full_degrades") {
  const ThreeHosts f;
  start_deployment(f.urls);
  RawClient server{f.nodes.port(0)};
  const std::uint64_t used = std::stoull(server.info("used_memory").value());
  REQUIRE(server.command({"CONFIG", "SET", "maxmemory", std::to_string(used / 100 * 104)}) == "OK");
  CHECK(Diagnosis{f.urls}.has("memory", f.urls[0]));
}

TEST_CASE("a_server_that_answers_but_refuses_writes_does_not_vote") {
  const ThreeHosts f;
  start_deployment(f.urls);
  REQUIRE(RawClient{f.nodes.port(0)}.command({"CONFIG", "SET", "maxmemory", "1"}) == "OK");
  REQUIRE(RawClient{f.nodes.port(1)}.command({"CONFIG", "SET", "min-replicas-to-write", "1"}) == "OK");
  const Diagnosis all{f.urls};
  CHECK(all.code == 2);
  CHECK(all.all["votes"] == 1);
  CHECK(all.state(0) == "out of memory");
  CHECK_THAT(advice(all, "not_voting", f.urls[0]), contains("more memory"));
  CHECK(all.state(1) == "server error");
  CHECK_THAT(all.finding("not_voting", f.urls[1])["text"].get<std::string>(), contains("NOREPLICAS"));
}

TEST_CASE("nodes_that_are_declared_durable_and_are_not_are_unsafe") {
  const ThreeHosts volatile_nodes;
  const Diagnosis wrong{volatile_nodes.urls, {"--durable-nodes"}};
  CHECK(wrong.code == 2);
  CHECK_THAT(wrong.finding("not_durable", volatile_nodes.urls[0])["text"].get<std::string>(),
             contains("writes no append-only file"));
  const ThreeHosts durable{{.persist = true}};
  CHECK_FALSE(Diagnosis{durable.urls, {"--durable-nodes"}}.has("not_durable", durable.urls[0]));
  CHECK(Diagnosis{durable.urls}.finding("durable")["severity"] == "note");
  REQUIRE(RawClient{durable.nodes.port(2)}.command({"CONFIG", "SET", "appendfsync", "everysec"}) == "OK");
  const Diagnosis weak{durable.urls, {"--durable-nodes"}};
  CHECK(weak.code == 2);
  CHECK_THAT(weak.finding("not_durable", durable.urls[2])["text"].get<std::string>(),
             contains("appendfsync is everysec"));
}

TEST_CASE("a_restart_guard_that_is_off_is_unsafe_unless_nodes_lose_nothing") {
  const ThreeHosts volatile_nodes;
  CHECK(Diagnosis{volatile_nodes.urls, {"--restart-guard", "off"}}.has("no_guard"));
  const ThreeHosts durable{{.persist = true}};
  CHECK_FALSE(Diagnosis{durable.urls, {"--restart-guard", "off"}}.has("no_guard"));
}

TEST_CASE("limits_of_the_ttl_that_differ_are_found") {
  const ThreeHosts f;
  start_deployment(f.urls);
  RawClient server{f.nodes.port(1)};
  std::string marker = server.get("redlock:node").value();
  const std::size_t at = marker.find("max_ttl=60000");
  REQUIRE(at != std::string::npos);
  marker.insert(at + 13, " ceiling=300000");  // as a raise that was interrupted leaves it
  REQUIRE(server.command({"SET", "redlock:node", marker}) == "OK");
  const Diagnosis all{f.urls};
  CHECK(advice(all, "max_ttl_differs") == "Run redlock nodes set --max-ttl 300000ms when all nodes vote.");
  CHECK_THAT(advice(all, "max_ttl_low"), contains("REDLOCK_MAX_TTL to 300000ms"));
  REQUIRE(run_tool({"nodes", "set", "--max-ttl", "300000ms"}, f.urls).code == 0);
  const Diagnosis mended{f.urls, {"--max-ttl", "5m"}};
  CHECK_FALSE(mended.has("max_ttl_differs"));
  CHECK_FALSE(mended.has("max_ttl_low"));
}

TEST_CASE("a_server_of_a_cluster_is_unsafe") {
  const ThreeHosts f{{.arguments = {"--cluster-enabled", "yes"}}};
  CHECK(Diagnosis{f.urls}.has("cluster", f.urls[0]));
}

TEST_CASE("every_finding_is_in_the_operations_page") {
  const std::string page = read_project_file("docs/operations.md");
  int findings = 0;
  for (const char* const file : {"src/tool/nodes/findings.cpp", "src/tool/nodes/node_findings.cpp"}) {
    const std::string source = read_project_file(file);
    const std::regex finding{R"re(Severity::\w+,\s*"([a-z_]+)")re"};
    for (std::sregex_iterator at{source.begin(), source.end(), finding}, end; at != end; ++at, ++findings) {
      CAPTURE((*at)[1].str());
      CHECK(page.find('`' + (*at)[1].str() + '`') != std::string::npos);
    }
  }
  CHECK(findings >= 20);
}

TEST_CASE("a_clock_that_runs_too_fast_is_unsafe_if_the_measurement_is_sure") {
  Survey all = three_voting_nodes();
  const auto severity = [&](double rate, double uncertainty) -> std::optional<Severity> {
    all.nodes[1].facts.clock = {
        .offset = {}, .offset_uncertainty = {}, .rate = rate, .rate_uncertainty = uncertainty};
    for (const Finding& finding : findings_of(all))
      if (finding.id == "clock_rate" && finding.node == "b") return finding.severity;
    return std::nullopt;
  };
  CHECK(severity(0.02, 0.001) == Severity::unsafe);
  CHECK(severity(-0.02, 0.001) == Severity::degraded);
  CHECK_FALSE(severity(0.02, 0.015));
  CHECK_FALSE(severity(0.009, 0));
}

TEST_CASE("a_clock_is_compared_with_those_of_most_nodes") {
  Survey all = three_voting_nodes();
  const auto found = [&](const std::string& id, const std::string& node) {
    return std::ranges::any_of(
        findings_of(all), [&](const Finding& finding) { return finding.id == id && finding.node == node; });
  };
  const auto set_offsets = [&](std::vector<std::chrono::milliseconds> offsets) {
    for (std::size_t node = 0; node < 3; ++node) all.nodes[node].facts.clock = {.offset = offsets[node]};
  };
  set_offsets({0ms, 900ms, -900ms});
  CHECK(findings_of(all).empty());
  set_offsets({0ms, 3000ms, 0ms});
  CHECK(found("clock", "b"));
  CHECK_FALSE(found("clock", "a"));
  CHECK_FALSE(found("own_clock", ""));
  set_offsets({-60'000ms, -60'000ms, -60'100ms});
  CHECK(found("own_clock", ""));
  CHECK_FALSE(found("clock", "c"));
}
