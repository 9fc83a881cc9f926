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
#include "tool/deployment.hpp"
#include "tool/nodes/doctor.hpp"
#include "tool/nodes/findings.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::tool::Finding;
using redlock::tool::Severity;
using redlock::tool::Survey;
using redlock::tool::Use;

namespace {

/// Three nodes with a user who has the documented rights.
struct WithUser {
  WithUser() {
    start_deployment(f.nodes, f.urls);
    allow(documented_rights());
    for (const std::string& url : f.urls) urls.push_back("redis://app:tuna@" + url.substr(8));
  }

  /// Gives the user these rights instead.
  void allow(const std::vector<std::string>& rights) {
    std::vector<std::string> command{"ACL", "SETUSER", "app", "reset", "on", ">tuna"};
    command.insert(command.end(), rights.begin(), rights.end());
    for (RawClient& server : servers) REQUIRE(server.command(command) == "OK");
  }

  ThreeHosts f;
  Observers servers{f.nodes};
  std::vector<std::string> urls;
};

std::vector<std::string> without(const std::string& right) {
  std::vector<std::string> rights = documented_rights();
  REQUIRE(std::erase(rights, right) == 1);
  return rights;
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
  const nlohmann::json& finding = wrong.finding("missing_rights", f.f.urls[0]);
  CHECK_THAT(finding["advice"].get<std::string>(),
             contains("ACL SETUSER NAME ~invoices ~redlock:f:{invoices}"));
  CHECK(wrong.all["nodes"][0]["missing_rights"][0] == "~invoices");
}

TEST_CASE("every_right_that_locks_need_is_missed_when_it_is_missing") {
  WithUser f;
  for (const std::string right :
       {"+set", "+get", "+getrange", "+del", "+exists", "+pttl", "+pexpire", "+time", "+eval", "+evalsha",
        "+script|load", "+role", "+info", "~redlock:node", "~redlock:quarantine"}) {
    CAPTURE(right);
    f.allow(without(right));
    const Findings found{f.urls, {}, "app:invoices"};
    CHECK(found.worst() == Severity::unsafe);
    CHECK(found.survey.votes() == 0);
    CHECK(found.state(0) == "lacks rights");
    CHECK(found.survey.nodes[0].missing(Use::locking) == right);
    CHECK(found.finding("missing_rights", f.f.urls[0]).advice ==
          "Run on the server, with the name of the user: ACL SETUSER NAME " + right);
  }
}

TEST_CASE("a_missing_right_to_listen_degrades") {
  WithUser f;
  for (const std::string right : {"+subscribe", "+ping", "+client|id", "+client|tracking", "+client|caching",
                                  "&__redis__:invalidate"}) {
    CAPTURE(right);
    f.allow(without(right));
    const Findings found{f.urls, {}, "app:invoices"};
    CHECK(found.worst() == Severity::degraded);
    CHECK(found.survey.votes() == 3);
    const Finding& deaf = found.finding("no_tracking", f.f.urls[0]);
    CHECK(deaf.severity == Severity::degraded);
    CHECK_THAT(deaf.advice, contains("ACL SETUSER NAME " + right));
  }
}

TEST_CASE("a_missing_right_to_stand_in_line_degrades") {
  WithUser f;
  for (const std::string right : {"+zadd", "+zrem", "+zscore", "+zrange", "+zrank", "+zrangebyscore",
                                  "+zcard", "+publish", "&redlock:turn:*"}) {
    CAPTURE(right);
    f.allow(without(right));
    const Findings found{f.urls, {}, "app:invoices"};
    CHECK(found.survey.votes() == 3);
    const Finding& disorder = found.finding("no_line", f.f.urls[0]);
    CHECK(disorder.severity == Severity::degraded);
    CHECK_THAT(disorder.advice, contains("ACL SETUSER NAME " + right));
  }
  f.allow(without("~redlock:q?:{app:*"));
  CHECK_THAT(Findings(f.urls, {}, "app:invoices").finding("no_line", f.f.urls[0]).advice,
             contains("ACL SETUSER NAME ~redlock:q?:{app:invoices}"));
}

TEST_CASE("a_missing_right_that_not_every_user_needs_is_a_note") {
  WithUser f;
  struct Missing {
    std::string rule;
    std::string id;
    std::string advised;
  };
  for (const auto& [rule, id, advised] :
       {Missing{"+client|setname", "no_name", "+client|setname"}, Missing{"+sadd", "no_sharing", "+sadd"},
        Missing{"+srem", "no_sharing", "+srem"}, Missing{"+smembers", "no_sharing", "+smembers"},
        Missing{"+sismember", "no_sharing", "+sismember"},
        Missing{"~redlock:s:{app:*", "no_sharing", "~redlock:s:{app:invoices}*"},
        Missing{"~redlock:a:{app:*", "no_requests", "~redlock:a:{app:invoices}:*"}}) {
    CAPTURE(rule);
    f.allow(without(rule));
    const Findings found{f.urls, {}, "app:invoices"};
    CHECK(found.survey.votes() == 3);
    const Finding& note = found.finding(id, f.f.urls[0]);
    CHECK(note.severity == Severity::note);
    CHECK(note.advice == "Run on the server, with the name of the user: ACL SETUSER NAME " + advised);
  }
}

TEST_CASE("the_advice_about_missing_rights_names_no_made_up_lock") {
  WithUser f;
  struct Missing {
    std::string rule;
    std::string id;
    std::string feature;
  };
  for (const auto& [rule, id, feature] :
       {Missing{"+client|tracking", "no_tracking", "renewed"}, Missing{"+zadd", "no_line", "waiting"},
        Missing{"+sadd", "no_sharing", "shared"}, Missing{"~redlock:s:{app:*", "no_sharing", "shared"},
        Missing{"~redlock:a:{app:*", "no_requests", "renewed"},
        Missing{"~redlock:f:{app:*", "missing_rights", "plain, fenced and renewed"}}) {
    CAPTURE(rule);
    f.allow(without(rule));
    const Findings found{f.urls, {.restart_guard = redlock::RestartGuard::off, .key_prefix = "app:"}};
    CHECK(found.finding(id, f.f.urls[0]).advice == "Run on the server what redlock acl prints with " +
                                                       feature +
                                                       " in its --for, and with the same --key-prefix.");
  }
}

TEST_CASE("questions_about_rights_leave_nothing_on_the_servers") {
  const WithUser f;
  const Diagnosis all{f.urls, {"--resource", "app:invoices"}};
  CHECK(all.all["votes"] == 3);
  RawClient server{f.f.nodes.port(0)};
  CHECK(server.command({"KEYS", "redlock-nodes-*"}) == "[]");
  CHECK(server.command({"KEYS", "app:*"}) == "[]");
}

TEST_CASE("a_server_that_may_delete_locks_is_unsafe") {
  const ThreeHosts f;
  start_deployment(f.nodes, f.urls);
  RawClient server{f.nodes.port(1)};
  for (const std::string policy : {"allkeys-lru", "volatile-ttl"}) {
    CAPTURE(policy);
    REQUIRE(server.command({"CONFIG", "SET", "maxmemory", "0"}) == "OK");
    REQUIRE(server.command({"CONFIG", "SET", "maxmemory-policy", policy}) == "OK");
    CHECK(Findings{f.urls}.finding("eviction", f.urls[1]).severity == Severity::degraded);
    REQUIRE(server.command({"CONFIG", "SET", "maxmemory", "100mb"}) == "OK");
    const Findings limited{f.urls};
    CHECK(limited.worst() == Severity::unsafe);
    CHECK_THAT(limited.finding("eviction", f.urls[1]).text,
               contains("deletes keys when its memory is full (maxmemory-policy " + policy + ")"));
    CHECK_FALSE(limited.has("eviction", f.urls[0]));
  }
}

TEST_CASE("a_server_that_is_nearly_full_degrades") {
  const ThreeHosts f;
  start_deployment(f.nodes, f.urls);
  RawClient server{f.nodes.port(0)};
  const std::uint64_t used = std::stoull(server.info("used_memory").value());
  REQUIRE(server.command({"CONFIG", "SET", "maxmemory", std::to_string(used / 100 * 104)}) == "OK");
  CHECK(Findings{f.urls}.has("memory", f.urls[0]));
}

TEST_CASE("a_server_that_answers_but_refuses_writes_does_not_vote") {
  const ThreeHosts f;
  start_deployment(f.nodes, f.urls);
  REQUIRE(RawClient{f.nodes.port(0)}.command({"CONFIG", "SET", "maxmemory", "1"}) == "OK");
  REQUIRE(RawClient{f.nodes.port(1)}.command({"CONFIG", "SET", "min-replicas-to-write", "1"}) == "OK");
  const Findings found{f.urls};
  CHECK(found.worst() == Severity::unsafe);
  CHECK(found.survey.votes() == 1);
  CHECK(found.state(0) == "out of memory");
  CHECK_THAT(found.finding("not_voting", f.urls[0]).advice, contains("more memory"));
  CHECK(found.state(1) == "server error");
  CHECK_THAT(found.finding("not_voting", f.urls[1]).text, contains("NOREPLICAS"));
}

TEST_CASE("nodes_that_are_declared_durable_and_are_not_are_unsafe") {
  const redlock::Options declared{.durable_nodes = true};
  const ThreeHosts volatile_nodes;
  const Diagnosis wrong{volatile_nodes.urls, {"--durable-nodes"}};
  CHECK(wrong.code == 2);
  CHECK_THAT(wrong.finding("not_durable", volatile_nodes.urls[0])["text"].get<std::string>(),
             contains("writes no append-only file"));
  const ThreeHosts durable{{.persist = true}};
  CHECK_FALSE(Findings{durable.urls, declared}.has("not_durable", durable.urls[0]));
  CHECK(Findings{durable.urls}.finding("durable").severity == Severity::note);
  REQUIRE(RawClient{durable.nodes.port(2)}.command({"CONFIG", "SET", "appendfsync", "everysec"}) == "OK");
  const Findings weak{durable.urls, declared};
  CHECK(weak.worst() == Severity::unsafe);
  CHECK_THAT(weak.finding("not_durable", durable.urls[2]).text, contains("appendfsync is everysec"));
}

TEST_CASE("a_restart_guard_that_is_off_is_unsafe_unless_nodes_lose_nothing") {
  const ThreeHosts volatile_nodes;
  CHECK(Diagnosis{volatile_nodes.urls, {"--restart-guard", "off"}}.has("no_guard"));
  const ThreeHosts durable{{.persist = true}};
  CHECK_FALSE(Findings{durable.urls, {.restart_guard = redlock::RestartGuard::off}}.has("no_guard"));
}

TEST_CASE("limits_of_the_ttl_that_differ_are_found") {
  const ThreeHosts f;
  start_deployment(f.nodes, f.urls);
  RawClient server{f.nodes.port(1)};
  std::string marker = server.get("redlock:node").value();
  const std::size_t at = marker.find("max_ttl=60000");
  REQUIRE(at != std::string::npos);
  marker.insert(at + 13, " ceiling=300000");  // as a raise that was interrupted leaves it
  REQUIRE(server.command({"SET", "redlock:node", marker}) == "OK");
  const Findings found{f.urls};
  CHECK(found.finding("max_ttl_differs").advice ==
        "Run redlock nodes set --max-ttl 300000ms when all nodes vote.");
  CHECK_THAT(found.finding("max_ttl_low").advice, contains("REDLOCK_MAX_TTL to 300000ms"));
  REQUIRE(run_tool({"nodes", "set", "--max-ttl", "300000ms"}, f.urls).code == 0);
  const Findings mended{f.urls, {.max_ttl = 5min}};
  CHECK_FALSE(mended.has("max_ttl_differs"));
  CHECK_FALSE(mended.has("max_ttl_low"));
}

TEST_CASE("a_server_of_a_cluster_is_unsafe") {
  const ThreeHosts f{{.arguments = {"--cluster-enabled", "yes"}}};
  const Findings found{f.urls};
  CHECK(found.has("cluster", f.urls[0]));
  CHECK(found.worst() == Severity::unsafe);
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
