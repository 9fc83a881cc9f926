// The restart guard settings of the command.
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "testing/process.hpp"
#include "tool/deployment.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

namespace {

/// Runs the command with these variables and the nodes in its environment.
Program::Ending run_with(std::vector<std::string> variables, const std::vector<std::string>& arguments,
                         const LocalNodes& nodes) {
  variables.push_back(nodes_variable(nodes.urls()));
  Program program{tool(arguments), variables};
  return program.wait();
}

bool have_begun(const LocalNodes& nodes, const std::string& key = "redlock:node") {
  return Observers{nodes}.having(key) > 0;
}
/// Waits until every node has its marker. A run ends when a majority has answered.
bool are_marked(const LocalNodes& nodes, const std::string& key = "redlock:node") {
  return eventually([&] { return Observers{nodes}.having(key) == nodes.size(); });
}

}  // namespace

TEST_CASE("new_nodes_are_marked_by_the_first_run_and_not_by_status") {
  LocalNodes nodes{3};
  CHECK(run_tool({"status", "r"}, nodes.urls()).code == 0);
  CHECK(Observers{nodes}.having("redlock:node") == 0);
  CHECK(run_tool({"run", "-w", "20", "r", "--", "true"}, nodes.urls()).code == 0);
  CHECK(are_marked(nodes));
}

TEST_CASE("status_reports_which_nodes_lost_their_data") {
  LocalNodes nodes{3};
  start_deployment(nodes);
  nodes.restart_empty(1);
  const Program::Ending before = run_tool({"status", "r"}, nodes.urls());
  CHECK_THAT(before.output,
             contains(nodes.url(1) + "  quarantined  -") && contains("it lost its data or is new"));
  CHECK_THAT(before.output, contains("Nobody holds r."));
  CHECK(run_tool({"run", "-w", "20", "r", "--", "sleep", "0.5"}, nodes.urls()).code == 0);
  CHECK_THAT(run_tool({"status", "r"}, nodes.urls()).output,
             contains("restarted ") && contains(" ago, votes again in "));
}

TEST_CASE("status_says_for_how_long_no_lock_can_be_had") {
  LocalNodes nodes{3};
  start_deployment(nodes);
  for (const int node : {0, 1}) nodes.restart_empty(node);
  REQUIRE(eventually([&] {
    CHECK(run_tool({"run", "-n", "--node-wait", "0", "r", "--", "true"}, nodes.urls()).code == 69);
    const std::string output = run_tool({"status", "r"}, nodes.urls()).output;
    return contains("Cannot tell who holds r: only 1 of 3 nodes voted. No lock can be had for ")
               .match(output) &&
           output.ends_with(" s.\n");
  }));
  const Program::Ending json = run_tool({"status", "--json", "r"}, nodes.urls());
  CHECK_THAT(json.output, contains("\"votes_in_ms\": "));
}

TEST_CASE("the_policy_comes_from_the_command_line_or_else_from_the_environment") {
  LocalNodes nodes{3};
  CHECK(run_with({"REDLOCK_RESTART_GUARD=off"}, {"run", "-w", "20", "r", "--", "true"}, nodes).code == 0);
  CHECK(run_tool({"run", "-w", "20", "--restart-guard", "off", "r", "--", "true"}, nodes.urls()).code == 0);
  CHECK_FALSE(have_begun(nodes));
  CHECK(
      run_with({"REDLOCK_RESTART_GUARD=strict"}, {"run", "-n", "--node-wait", "0", "r", "--", "true"}, nodes)
          .code == 69);
  CHECK(eventually([&] { return Observers{nodes}.having("redlock:quarantine") == 3; }));
}

TEST_CASE("durable_nodes_are_declared_on_the_command_line_or_in_the_environment") {
  LocalNodes nodes{3, {.persist = true}};
  const auto restart = [&nodes] {
    for (int node = 0; node < 3; ++node) nodes.restart_with_data(node);
  };
  start_deployment(nodes);
  restart();
  CHECK(run_tool({"run", "-w", "20", "--durable-nodes", "r", "--", "true"}, nodes.urls()).code == 0);
  restart();
  CHECK(run_with({"REDLOCK_DURABLE_NODES=1"}, {"run", "-w", "20", "r", "--", "true"}, nodes).code == 0);
  restart();
  CHECK(run_tool({"run", "-n", "--node-wait", "0", "r", "--", "true"}, nodes.urls()).code == 69);
}

TEST_CASE("a_run_waits_for_nodes_that_have_said_when_they_vote_again") {
  LocalNodes nodes{3};
  const auto words = [](std::vector<std::string> more) {
    std::vector<std::string> all{"run", "--max-ttl", "3s", "--ttl", "1s", "--restart-guard", "strict"};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"r", "--", "echo", "ran"});
    return all;
  };
  const auto begun = redlock::Clock::now();
  const Program::Ending at_once = run_tool(words({"-n", "--node-wait", "0"}), nodes.urls());
  CHECK(at_once.code == 69);
  CHECK_THAT(at_once.errors, !contains("waiting"));
  const Program::Ending waited = run_tool(words({"-n"}), nodes.urls());
  CHECK(waited.code == 0);
  CHECK(waited.output == "ran\n");
  CHECK_THAT(waited.errors, contains("redlock: waiting for nodes that will vote again\n  " + nodes.url(0) +
                                     ": quarantined ("));
  CHECK(redlock::Clock::now() - begun >= 3s);
  nodes.restart_empty(0);
  nodes.restart_empty(1);
  const Program::Ending limited = run_tool(words({"-n", "--node-wait", "100ms"}), nodes.urls());
  CHECK(limited.code == 69);
  CHECK_THAT(limited.errors, contains("waiting for nodes") && contains("nodes voted"));
  const auto before = redlock::Clock::now();
  CHECK(run_tool(words({"-w", "1h", "--node-wait", "0"}), nodes.urls()).code == 69);
  CHECK(redlock::Clock::now() - before < 60s);
  CHECK(run_tool(words({}), nodes.urls()).code == 0);
}

TEST_CASE("a_run_does_not_wait_for_restarted_nodes_that_make_no_majority") {
  LocalNodes nodes{3};
  start_deployment(nodes);
  nodes.kill(0);
  nodes.kill(1);
  nodes.restart_empty(2);
  CHECK(run_tool({"run", "r", "--", "true"}, nodes.urls()).code == 69);
}

TEST_CASE("a_signal_ends_the_wait_for_nodes") {
  LocalNodes nodes{3};
  Program waiting{tool({"run", "--restart-guard", "strict", "r", "--", "echo", "ran"}),
                  {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return Observers{nodes}.having("redlock:quarantine") == 3; }));
  CHECK(waiting.is_running());
  waiting.signal(SIGTERM);
  const Program::Ending ending = waiting.wait();
  CHECK(ending.code == 128 + SIGTERM);
  CHECK(ending.output.empty());
  CHECK(Observers{nodes}.having("redlock:quarantine") == 3);  // it did not wait until they vote
}

TEST_CASE("a_restart_long_ago_does_not_delay_a_run") {
  LocalNodes nodes{3, {.persist = true}};
  const std::vector<std::string> limits{"--max-ttl", "3s", "--ttl", "3s", "r", "--", "true"};
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), limits.begin(), limits.end());
    const Program::Ending ending = run_tool(arguments, nodes.urls());
    UNSCOPED_INFO(ending.errors);
    return ending.code;
  };
  // Each prefix has its own record of restarts.
  for (const std::string prefix : {"a:", "b:"}) {
    CHECK(run({"run", "-w", "20", "--key-prefix", prefix}) == 0);
    REQUIRE(are_marked(nodes, "redlock:node:" + prefix));
  }
  nodes.restart_with_data(0);
  nodes.restart_with_data(1);
  std::this_thread::sleep_for(5500ms);
  CHECK(run({"run", "-n", "--node-wait", "0", "--key-prefix", "a:", "--restart-guard", "strict"}) == 69);
  CHECK(run({"run", "-n", "--node-wait", "0", "--key-prefix", "b:"}) == 0);
}

TEST_CASE("new_nodes_get_the_max_ttl_of_the_first_run_and_later_ones_follow") {
  LocalNodes nodes{3};
  CHECK(run_tool({"run", "--max-ttl", "2m", "--ttl", "2m", "r", "--", "true"}, nodes.urls()).code == 0);
  CHECK(run_tool({"run", "--ttl", "2m", "r", "--", "true"}, nodes.urls()).code == 0);
  CHECK(run_with({"REDLOCK_MAX_TTL=10m"}, {"run", "--ttl", "1m", "r", "--", "true"}, nodes).code == 0);
  const Program::Ending refused =
      run_with({"REDLOCK_MAX_TTL=10m"}, {"run", "--ttl", "3m", "r", "--", "true"}, nodes);
  CHECK(refused.code == 64);
  CHECK_THAT(refused.errors, contains("ttl too long (the ttl, with any lock_delay, is 180 s, but max_ttl of "
                                      "these nodes is 120 s; to raise "
                                      "it: redlock nodes set --max-ttl 180s)"));
}

TEST_CASE("nodes_set_allows_a_longer_ttl") {
  LocalNodes nodes{3};
  const std::vector<std::string> long_run{"run", "-n", "--ttl", "5m", "r", "--", "true"};
  const std::vector<std::string> set{"nodes", "set", "--max-ttl", "5m"};
  CHECK(run_tool(long_run, nodes.urls()).code == 64);
  REQUIRE(are_marked(nodes));
  const Program::Ending raised = run_tool(set, nodes.urls());
  CHECK(raised.code == 0);
  CHECK(raised.output == "max_ttl is 5 min 0 s\n");
  CHECK(run_tool(long_run, nodes.urls()).code == 0);
  CHECK(run_tool({"nodes", "--max-ttl", "1m", "set"}, nodes.urls()).output == "max_ttl is 5 min 0 s\n");
}

TEST_CASE("nodes_set_that_was_killed_half_way_allows_nothing_and_may_be_repeated") {
  LocalNodes nodes{3};
  start_deployment(nodes);
  Observers servers{nodes};
  const auto has = [&](const std::string& part) {
    return servers[0].get("redlock:node").value_or("").find(part) != std::string::npos;
  };
  // It can be killed in the two seconds between its phases. On a machine that stalls for longer, tries again.
  bool was_half_way = false;
  for (int minutes = 5; minutes <= 25 && !was_half_way; minutes += 5) {
    const std::string ttl = std::to_string(minutes) + "m";
    const std::string milliseconds = std::to_string(minutes * 60'000);
    const std::vector<std::string> long_run{"run", "-n", "--ttl", ttl, "r", "--", "true"};
    const std::vector<std::string> set{"nodes", "set", "--max-ttl", ttl};
    Program raising{tool(set), {nodes_variable(nodes.urls())}};
    REQUIRE(eventually([&] { return has("ceiling=" + milliseconds) || has("max_ttl=" + milliseconds); }));
    raising.signal(SIGKILL);
    raising.wait();
    was_half_way = has("ceiling=" + milliseconds);
    CHECK(run_tool(long_run, nodes.urls()).code == (was_half_way ? 64 : 0));
    CHECK(run_tool(set, nodes.urls()).code == 0);
    CHECK(run_tool(long_run, nodes.urls()).code == 0);
  }
  CHECK(was_half_way);
}

TEST_CASE("nodes_set_needs_all_nodes_and_says_which_are_missing") {
  LocalNodes nodes{3};
  const std::vector<std::string> set{"nodes", "set", "--max-ttl", "5m"};
  const Program::Ending unused = run_tool(set, nodes.urls());
  CHECK(unused.code == 69);
  CHECK_THAT(unused.errors, contains("the node has no marker; take a lock first"));
  start_deployment(nodes);
  nodes.kill(1);
  const Program::Ending missing = run_tool(set, nodes.urls());
  CHECK(missing.code == 69);
  CHECK_THAT(missing.errors, contains("max_ttl was not raised") && contains(nodes.url(1) + ": unreachable") &&
                                 !contains(nodes.url(0)));
}

TEST_CASE("nodes_set_reports_wrong_usage") {
  LocalNodes nodes{1};
  for (const std::vector<std::string>& words : {std::vector<std::string>{"nodes", "set"},
                                                {"nodes", "set", "--max-ttl", "5d"},
                                                {"nodes", "set", "--max-ttl", "5ms"},
                                                {"nodes", "set", "--max-ttl", "5m", "--wait"},
                                                {"nodes", "set", "--max-ttl", "5m", "--restart-guard", "off"},
                                                {"nodes", "set", "--max-ttl", "5m", "r"}}) {
    const Program::Ending ending = run_tool(words, nodes.urls());
    CAPTURE(words, ending.errors);
    CHECK(ending.code == 64);
  }
}

TEST_CASE("invalid_environment_variables_are_bad_usage") {
  LocalNodes nodes{1};
  for (const std::string variable : {"REDLOCK_RESTART_GUARD=on", "REDLOCK_DURABLE_NODES=yes",
                                     "REDLOCK_MAX_TTL=long", "REDLOCK_MAX_TTL=1ms"}) {
    CAPTURE(variable);
    const Program::Ending ending = run_with({variable}, {"run", "r", "--", "true"}, nodes);
    CHECK(ending.code == 64);
    CHECK_THAT(ending.errors, contains("allowed:"));
  }
  CHECK(run_tool({"run", "--restart-guard", "on", "r", "--", "true"}, nodes.urls()).code == 64);
}

TEST_CASE("the_key_prefix_comes_from_the_command_line_or_else_from_the_environment") {
  LocalNodes nodes{3};
  CHECK(run_with({"REDLOCK_KEY_PREFIX=app:"}, {"run", "-w", "20", "r", "--", "true"}, nodes).code == 0);
  CHECK(are_marked(nodes, "redlock:node:app:"));
  const Program::Ending inside = run_with(
      {"REDLOCK_KEY_PREFIX=app:"},
      {"run", "-w", "20", "--key-prefix", "third:", "r", "--", "printenv", "REDLOCK_KEY_PREFIX"}, nodes);
  CHECK(inside.output == "third:\n");
  CHECK(run_tool({"nodes", "--wait", "--key-prefix", "other:"}, nodes.urls()).code == 0);
  CHECK(Observers{nodes}.having("redlock:node:other:") == 3);
  CHECK_FALSE(have_begun(nodes));
}
