// The restart guard settings of the command.
#include <chrono>
#include <string>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "testing/process.hpp"
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

bool are_marked(const LocalNodes& nodes) { return Observers{nodes}.having("redlock:node") == nodes.size(); }

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
  CHECK(run_tool({"run", "-w", "20", "r", "--", "true"}, nodes.urls()).code == 0);
  nodes.restart_empty(1);
  const Program::Ending before = run_tool({"status", "r"}, nodes.urls());
  CHECK_THAT(before.output,
             contains(nodes.url(1) + "  quarantined  -") && contains("it lost its data or is new"));
  CHECK_THAT(before.output, contains("Nobody holds r."));
  CHECK(run_tool({"run", "-w", "20", "r", "--", "sleep", "0.5"}, nodes.urls()).code == 0);
  CHECK_THAT(run_tool({"status", "r"}, nodes.urls()).output,
             contains("restarted without its data ") && contains(" ago, votes again in "));
}

TEST_CASE("the_policy_comes_from_the_command_line_or_else_from_the_environment") {
  LocalNodes nodes{3};
  CHECK(run_with({"REDLOCK_RESTART_GUARD=off"}, {"run", "-w", "20", "r", "--", "true"}, nodes).code == 0);
  CHECK(run_tool({"run", "-w", "20", "--restart-guard", "off", "r", "--", "true"}, nodes.urls()).code == 0);
  CHECK_FALSE(are_marked(nodes));
  CHECK(run_with({"REDLOCK_RESTART_GUARD=strict"}, {"run", "-n", "r", "--", "true"}, nodes).code == 69);
  CHECK(eventually([&] { return Observers{nodes}.having("redlock:quarantine") == 3; }));
}

TEST_CASE("durable_nodes_are_declared_on_the_command_line_or_in_the_environment") {
  LocalNodes nodes{3, {.persist = true}};
  const auto restart = [&nodes] {
    for (int node = 0; node < 3; ++node) nodes.restart_with_data(node);
  };
  CHECK(run_tool({"run", "-w", "20", "r", "--", "true"}, nodes.urls()).code == 0);
  restart();
  CHECK(run_tool({"run", "-w", "20", "--durable-nodes", "r", "--", "true"}, nodes.urls()).code == 0);
  restart();
  CHECK(run_with({"REDLOCK_DURABLE_NODES=1"}, {"run", "-w", "20", "r", "--", "true"}, nodes).code == 0);
  restart();
  CHECK(run_tool({"run", "-n", "r", "--", "true"}, nodes.urls()).code == 69);
}

TEST_CASE("a_longer_ttl_needs_a_longer_max_ttl_set_by_all_clients") {
  LocalNodes nodes{3};
  const Program::Ending refused = run_tool({"run", "--ttl", "2m", "r", "--", "true"}, nodes.urls());
  CHECK(refused.code == 64);
  CHECK_THAT(refused.errors, contains("ttl is 120 s; max_ttl allows at most 60 s"));
  CHECK(
      run_tool({"run", "-w", "20", "--max-ttl", "2m", "--ttl", "2m", "r", "--", "true"}, nodes.urls()).code ==
      0);
  CHECK(run_with({"REDLOCK_MAX_TTL=2m"}, {"run", "-w", "20", "r", "--", "true"}, nodes).code == 0);
  const Program::Ending other = run_tool({"run", "r", "--", "true"}, nodes.urls());
  CHECK(other.code == 64);
  CHECK_THAT(other.errors, contains("its marker says max_ttl 120000 ms, but this client has 60000 ms"));
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
