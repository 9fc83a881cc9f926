// redlock nodes init: begins a deployment, or says that there is one.
#include <string>

#include "integration/support/observers.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/network/raw_client.hpp"
#include "tool/nodes/doctor.hpp"
#include "tool/program.hpp"

using namespace redlock::testing;

TEST_CASE("init_begins_a_deployment_once") {
  const LocalNodes nodes{3};
  const Program::Ending first = run_tool({"nodes", "init", "--max-ttl", "2m"}, nodes.urls());
  CHECK(first.code == 0);
  CHECK_THAT(first.output,
             contains("The deployment has begun. 3 of 3 nodes vote, 2 are needed. Deployment ") &&
                 contains(", locks of up to 2 min 0 s.\n"));
  const std::string marker = RawClient{nodes.port(0)}.get("redlock:node").value();
  CHECK_THAT(marker, contains(" nodes=3 max_ttl=120000 "));
  CHECK(Observers{nodes}.having("redlock:quarantine") == 0);

  const Program::Ending second = run_tool({"nodes", "init", "--max-ttl", "5m"}, nodes.urls());
  CHECK(second.code == 0);
  CHECK_THAT(second.output,
             contains("There is a deployment already; nothing was changed. 3 of 3 nodes vote") &&
                 contains("The nodes keep their longest ttl, 2 min 0 s"));
  CHECK(RawClient{nodes.port(0)}.get("redlock:node") == marker);
}

TEST_CASE("init_does_not_take_the_lock_that_it_is_given_to_see_what_the_user_may_do") {
  const LocalNodes nodes{3};
  Observers servers{nodes};
  servers.command({"SET", "app:invoices", "another program's value", "PX", "60000"});
  CHECK(run_tool({"nodes", "init", "--resource", "app:invoices"}, nodes.urls()).code == 0);
  CHECK(servers.holding("app:invoices", "another program's value") == 3);
}

TEST_CASE("init_changes_nothing_unless_all_nodes_are_there") {
  LocalNodes nodes{3};
  nodes.kill(1);
  const Program::Ending ending = run_tool({"nodes", "init"}, nodes.urls());
  CHECK(ending.code == 69);
  CHECK_THAT(ending.errors, contains("nothing was begun") && contains(nodes.url(1) + ": unreachable"));
  CHECK(Observers{nodes, {0, 2}}.empty() == 2);
  nodes.restart_empty(1);
  CHECK(run_tool({"nodes", "init"}, nodes.urls()).code == 0);
}

TEST_CASE("init_names_the_nodes_of_a_deployment_that_do_not_vote") {
  LocalNodes nodes{3};
  REQUIRE(run_tool({"nodes", "init"}, nodes.urls()).code == 0);
  nodes.kill(2);
  const Program::Ending ending = run_tool({"nodes", "init"}, nodes.urls());
  CHECK(ending.code == 69);
  CHECK_THAT(ending.output, contains("There is a deployment already") &&
                                contains("\n  " + nodes.url(2) + ": unreachable\n"));
}

TEST_CASE("init_under_the_strict_guard_says_how_long_the_nodes_wait") {
  const LocalNodes nodes{3};
  const Program::Ending ending = run_tool({"nodes", "init", "--restart-guard", "strict"}, nodes.urls());
  CHECK(ending.code == 69);
  CHECK_THAT(
      ending.output,
      contains(
          "The nodes begin a deployment when they have waited; redlock nodes --wait returns then. 0 of 3 ") &&
          contains(nodes.url(0) + ": quarantined, ") && contains(" s left\n"));
}

TEST_CASE("init_refuses_wrong_usage") {
  const LocalNodes nodes{1};
  CHECK(run_tool({"nodes", "init", "--restart-guard", "off"}, nodes.urls()).code == 64);
  CHECK(run_tool({"nodes", "init", "--wait"}, nodes.urls()).code == 64);
  CHECK(run_tool({"nodes", "init", "--json"}, nodes.urls()).code == 64);
  CHECK(run_tool({"nodes", "set", "--max-ttl", "5m", "--resource", "r"}, nodes.urls()).code == 64);
  CHECK(run_tool({"nodes", "init", "set"}, nodes.urls()).code == 64);
  CHECK(run_tool({"nodes", "init", "r"}, nodes.urls()).code == 64);
  CHECK(run_tool({"nodes", "--wait", "--json"}, nodes.urls()).code == 64);
  CHECK(Observers{nodes}.empty() == 1);
}
