// redlock watch: who holds a lock, as it changes.
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
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

TEST_CASE("watch_prints_a_line_for_each_change_of_the_holder") {
  LocalNodes nodes{3};
  redlock::Redlock locks{endpoints(nodes), {.restart_guard = redlock::RestartGuard::off}};
  Program watch{tool({"watch", "--restart-guard", "off", "r"}), {nodes_variable(nodes.urls())}};
  REQUIRE(last_line_has(watch, " UTC  free"));
  redlock::Lease first = locks.lock("r", {.ttl = 1h, .label = "first\n"}).value();
  REQUIRE(last_line_has(watch, " UTC  held by first\\x0a since 2"));
  CHECK(last_line_has(watch, ", token " + std::to_string(first.fencing_token().value())));
  redlock::Lease second = locks
                              .adopt({"r", first.owner_value(), first.fencing_token()},
                                     {.ttl = 1h, .at_least = 1h, .label = "second"})
                              .value();
  REQUIRE(last_line_has(watch, " UTC  held by second since 2"));
  second.release();
  REQUIRE(last_line_has(watch, " UTC  kept by at_least, free in "));
  nodes.kill(0);
  nodes.kill(1);
  REQUIRE(last_line_has(watch, " of 3 nodes voted"));
  CHECK(watch.output().find(" UTC  unknown: only ") != std::string::npos);
  watch.signal(SIGTERM);
  const Program::Ending ending = watch.wait();
  CHECK(ending.code == 0);
  CHECK_THAT(ending.errors, contains("  " + nodes.url(0) + ": ") && contains("  " + nodes.url(1) + ": "));
}

TEST_CASE("watch_seldom_asks_nodes_that_report_changes") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Program watch{tool({"watch", "--restart-guard", "off", "r"}), {nodes_variable(nodes.urls())}};
  REQUIRE(last_line_has(watch, " UTC  free"));
  REQUIRE(eventually([&] { return servers.calls("subscribe") == 3; }));
  // Each node that begins to listen is a reason to ask; the other questions come once a second.
  const auto asked = servers[0].calls("pttl");
  const auto begun = redlock::Clock::now();
  REQUIRE(eventually([&] { return servers[0].calls("pttl") >= asked + 6; }));
  CHECK(redlock::Clock::now() - begun >= 1500ms);
}

TEST_CASE("watch_sees_changes_also_where_the_nodes_cannot_report_them") {
  LocalNodes nodes{1, {.arguments = {"--rename-command", "SUBSCRIBE", "LISTEN"}}};
  redlock::Redlock locks{nodes.urls(), {.restart_guard = redlock::RestartGuard::off}};
  Program watch{tool({"watch", "--restart-guard", "off", "r"}), {nodes_variable(nodes.urls())}};
  REQUIRE(last_line_has(watch, " UTC  free"));
  redlock::Lease lease = locks.lock("r", {.ttl = 1h, .label = "web3:4711"}).value();
  REQUIRE(last_line_has(watch, " UTC  held by web3:4711 since 2"));
  CHECK(lease.release() == redlock::Release::released);
  REQUIRE(last_line_has(watch, " UTC  free"));
}

TEST_CASE("watch_ends_when_nobody_reads_its_output") {
  LocalNodes nodes{1};
  const std::string watch =
      "timeout 60 " REDLOCK_TOOL " watch --restart-guard off r";  // the holder never changes
  Program pipe{{"bash", "-c", watch + " | grep -m1 free; exit ${PIPESTATUS[0]}"},
               {nodes_variable(nodes.urls())}};
  const Program::Ending ending = pipe.wait();
  CHECK(ending.code == 128 + SIGPIPE);
  CHECK(ending.output.ends_with("free\n"));
}

TEST_CASE("watch_ends_with_success_at_SIGINT_and_SIGTERM_and_reports_other_signals") {
  LocalNodes nodes{1};
  for (const auto& [signal, code] : {std::pair{SIGINT, 0}, {SIGTERM, 0}, {SIGHUP, 128 + SIGHUP}}) {
    Program watch{tool({"watch", "--restart-guard", "off", "r"}), {nodes_variable(nodes.urls())}};
    REQUIRE(last_line_has(watch, " UTC  free"));
    watch.signal(signal);
    const Program::Ending ending = watch.wait();
    CAPTURE(signal);
    CHECK(ending.code == code);
    CHECK(ending.errors.empty());
  }
}

TEST_CASE("watch_as_json_has_an_object_in_each_line") {
  LocalNodes nodes{3};
  redlock::Redlock locks{endpoints(nodes), {.restart_guard = redlock::RestartGuard::off}};
  redlock::Lease lease = locks.lock("r", {.ttl = 1h, .label = "web3:4711"}).value();
  Program watch{tool({"watch", "--json", "--restart-guard", "off", "r"}), {nodes_variable(nodes.urls())}};
  REQUIRE(last_line_has(watch, "\"held\""));
  CHECK(lease.release() == redlock::Release::released);
  REQUIRE(last_line_has(watch, "\"free\""));
  watch.signal(SIGTERM);
  const Program::Ending ending = watch.wait();
  CHECK(ending.code == 0);

  // On a busy machine, the nodes may answer too late now and then.
  std::vector<nlohmann::json> states;
  std::istringstream lines{ending.output};
  for (std::string line; std::getline(lines, line);) {
    const auto state = nlohmann::json::parse(line);
    if (state["state"] != "unknown" && (states.empty() || states.back()["state"] != state["state"]))
      states.push_back(state);
  }
  REQUIRE(states.size() == 2);
  const auto& held = states[0];
  CHECK(held["resource"] == "r");
  CHECK(held["state"] == "held");
  CHECK(held["owner"] == lease.owner_value());
  CHECK(held["label"] == "web3:4711");
  CHECK(held["token"] == lease.fencing_token().value());
  CHECK(held["nodes_answered"].get<int>() >= 2);
  CHECK(held["time_ms"].get<long>() / 1000 >= held["since"].get<long>());
  CHECK(states[1]["state"] == "free");
  CHECK_FALSE(states[1].contains("owner"));
}
