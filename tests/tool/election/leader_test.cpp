// redlock leader: who leads.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/raw_client.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using nlohmann::json;

namespace {

/// Three nodes, and a candidate whose name has a line end.
struct Fixture {
  LocalNodes nodes{3};
  redlock::Redlock locks{endpoints(nodes), {.restart_guard = redlock::RestartGuard::off}};
  redlock::Election election{locks, "cron", "web3\n", {.ttl = 60s}};

  Program::Ending ask(std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"leader", "--restart-guard", "off", "cron"});
    return run_tool(options, nodes.urls());
  }
};

}  // namespace

TEST_CASE("leader_prints_who_leads_and_its_code_says_whether_anybody_does") {
  Fixture f;
  Program::Ending ending = f.ask();
  CHECK(ending.output == "nobody\n");
  CHECK(ending.code == 1);
  const redlock::Lease lease = f.election.try_campaign().value();
  const std::string token = std::to_string(lease.fencing_token().value());
  ending = f.ask();
  CHECK(ending.output == "web3\\x0a, token " + token + "\n");
  CHECK(ending.code == 0);
  const json shown = json::parse(f.ask({"--json"}).output);
  CHECK(shown.at("election") == "cron");
  CHECK(shown.at("time_ms") > 1'700'000'000'000);
  CHECK(shown.at("leader") == json{{"candidate", "web3\n"}, {"token", lease.fencing_token().value()}});
  f.nodes.kill(0);
  f.nodes.kill(1);
  ending = f.ask();
  CHECK(ending.code == 69);
  CHECK(ending.output.empty());
  CHECK_THAT(ending.errors, contains("no quorum"));
}

TEST_CASE("leader_with_watch_prints_a_line_for_each_new_leader_until_a_signal_comes") {
  Fixture f;
  const bool is_json = GENERATE(false, true);
  std::vector<std::string> words{"leader", "--watch", "--restart-guard", "off", "cron"};
  if (is_json) words.emplace_back("--json");
  Program watch{tool(words), {nodes_variable(f.nodes.urls())}};
  const auto says = [&](const std::string& text) {
    return eventually([&] { return watch.output().find(text) != std::string::npos; });
  };
  REQUIRE(says(is_json ? "\"leader\":null" : " UTC  nobody\n"));
  redlock::Lease lease = f.election.try_campaign().value();
  const std::string token = std::to_string(lease.fencing_token().value());
  REQUIRE(says(is_json ? "\"token\":" + token : " UTC  web3\\x0a, token " + token + "\n"));
  lease.release();
  const auto last_line = [&] {
    const std::string text = watch.output();
    return text.substr(text.rfind('\n', text.size() - 2) + 1);
  };
  REQUIRE(eventually([&] { return last_line().find(is_json ? ":null," : "nobody") != std::string::npos; }));
  const std::string told = watch.output();
  CAPTURE(told);
  CHECK(std::count(told.begin(), told.end(), '\n') == 3);
  const auto [signal, code] = GENERATE(std::pair{SIGTERM, 0}, std::pair{SIGHUP, 128 + SIGHUP});
  watch.signal(signal);
  const Program::Ending ending = watch.wait();
  CHECK(ending.code == code);
  CHECK(ending.errors.empty());
  std::istringstream lines{ending.output};
  if (is_json)
    for (std::string line; std::getline(lines, line);) CHECK(json::parse(line).contains("leader"));
}

TEST_CASE("status_and_watch_name_the_leader_of_an_election_as_one") {
  Fixture f;
  const redlock::Lease lease = f.election.try_campaign().value();
  REQUIRE(eventually([&] { return Observers{f.nodes}.having("cron") == 3; }));
  CHECK_THAT(run_tool({"status", "--restart-guard", "off", "cron"}, f.nodes.urls()).output,
             contains("cron is held by leader web3\\x0a since "));
  Program watch{tool({"watch", "--restart-guard", "off", "cron"}), {nodes_variable(f.nodes.urls())}};
  REQUIRE(eventually([&] { return watch.output().ends_with('\n'); }));
  CHECK_THAT(watch.output(), contains("held by leader web3\\x0a since "));
}

TEST_CASE("leader_with_watch_ends_when_nobody_reads_its_output") {
  LocalNodes nodes{1};
  const std::string watch = "timeout 60 " REDLOCK_TOOL " leader --watch --restart-guard off cron";
  Program pipe{{"bash", "-c", watch + " | grep -m1 nobody; exit ${PIPESTATUS[0]}"},
               {nodes_variable(nodes.urls())}};
  const Program::Ending ending = pipe.wait();
  CHECK(ending.code == 128 + SIGPIPE);
  CHECK(ending.output.ends_with("nobody\n"));
}

TEST_CASE("a_node_without_a_leader_is_free_and_has_granted_nothing") {
  LocalNodes nodes{3};
  for (const int node : {0, 1}) RawClient{nodes.port(node)}.command({"HSET", "cron", "a", "b"});
  const Program::Ending ending = run_tool({"leader", "cron"}, nodes.urls());
  CHECK(ending.code == 64);
  CHECK_THAT(ending.errors, contains(nodes.urls().back() + ": free"));
  CHECK(ending.errors.find("granted") == std::string::npos);
}
