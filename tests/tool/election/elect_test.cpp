// redlock elect: a command that runs while its candidate leads.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <optional>
#include <string>
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

namespace {

std::ptrdiff_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

/// A candidate whose command prints its token and goes on.
std::vector<std::string> candidate(const std::string& name, const std::string& lock_delay = "0") {
  return tool({"elect", "--restart-guard", "off", "--ttl", "3s", "--lock-delay", lock_delay, "--candidate",
               name, "cron", "--", "sh", "-c", "echo $REDLOCK_FENCING_TOKEN; exec sleep 600"});
}

/// A command that runs because its candidate leads, and has the lock on a majority.
struct Leading {
  Leading() {
    REQUIRE(eventually([&] { return lines(leader.output()) == 1; }));
    for (const std::size_t node : majority)
      REQUIRE(eventually([&] { return servers[node].get("cron").has_value(); }));
  }
  void lose_lock() {
    for (const std::size_t node : majority) servers[node].del("cron");
  }

  static constexpr std::size_t majority[] = {0, 1};
  LocalNodes nodes{3};
  Observers servers{nodes};
  Program leader{candidate("first"), {nodes_variable(nodes.urls())}};
};

/// A leader and another candidate, who stands in line. The leader's lock has this delay.
struct Candidates {
  explicit Candidates(const std::string& lock_delay)
      : first{candidate("first", lock_delay), {nodes_variable(nodes.urls())}} {
    REQUIRE(eventually([&] { return lines(first.output()) == 1; }));
    second.emplace(candidate("second"), std::vector{nodes_variable(nodes.urls())});
    REQUIRE(eventually([&] { return Observers{nodes}.having("redlock:qw:{cron}") == 1; }));
  }

  LocalNodes nodes{1};
  Program first;
  std::optional<Program> second;
};

}  // namespace

TEST_CASE("elect_ends_with_the_code_of_its_command_also_with_that_of_a_lost_lock") {
  LocalNodes nodes{3};
  CHECK(run_tool({"elect", "cron", "--", "sh", "-c", "exit 7"}, nodes.urls()).code == 7);
  CHECK(run_tool({"elect", "cron", "--", "sh", "-c", "exit 72"}, nodes.urls()).code == 72);
  CHECK(run_tool({"elect", "cron", "--", "no-such-program"}, nodes.urls()).code == 127);
  CHECK(eventually([&] { return Observers{nodes}.empty() == 3; }));
}

TEST_CASE("elect_runs_one_command_at_a_time_and_the_next_one_when_the_leader_ends") {
  LocalNodes nodes{3};
  Program first{candidate("first"), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return lines(first.output()) == 1; }));
  Program second{candidate("second"), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return Observers{nodes}.having("redlock:qw:{cron}") == 3; }));
  CHECK(second.output().empty());
  first.signal(SIGTERM);
  CHECK(first.wait().code == 128 + SIGTERM);
  REQUIRE(eventually([&] { return lines(second.output()) == 1; }));
  CHECK(std::stoull(second.output()) > std::stoull(first.output()));
}

TEST_CASE("elect_runs_its_command_again_after_a_loss") {
  Leading f;
  f.lose_lock();
  REQUIRE(eventually([&] { return lines(f.leader.output()) == 2; }));
  CHECK_THAT(f.leader.errors(), contains("the lock cron could not be kept"));
  CHECK_THAT(f.leader.errors(), contains("redlock: stands for election again\n"));
  f.leader.signal(SIGTERM);
  CHECK(f.leader.wait().code == 128 + SIGTERM);
}

TEST_CASE("elect_ends_at_a_signal_that_comes_between_two_runs_of_its_command") {
  Leading f;
  f.nodes.pause(2);  // the end of the client waits a quarter of a second for a node that hangs
  f.lose_lock();
  REQUIRE(eventually([&] { return f.leader.errors().find("could not be kept") != std::string::npos; }));
  f.leader.signal(SIGTERM);
  const Program::Ending ending = f.leader.wait();  // hangs if the signal is forgotten
  CHECK(ending.code == 128 + SIGTERM);
  CHECK(ending.is_by_signal);
}

TEST_CASE("elect_ends_at_a_signal_while_it_waits_for_nodes") {
  LocalNodes nodes{3};
  Program leader{candidate("first"), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return lines(leader.output()) == 1; }));
  nodes.kill(0);
  nodes.kill(1);
  REQUIRE(eventually([&] { return leader.errors().find("redlock: no quorum") != std::string::npos; }));
  leader.signal(SIGTERM);
  CHECK(leader.wait().code == 128 + SIGTERM);
}

TEST_CASE("after_the_death_of_a_leader_with_a_lock_delay_the_next_one_leads_when_ttl_and_delay_are_over") {
  const Candidates f{"3s"};
  const auto begun = redlock::Clock::now();
  const int left = std::stoi(RawClient{f.nodes.port(0)}.command({"PTTL", "cron"}));
  CHECK((left > 3'000 && left <= 6'000));
  f.first.signal(SIGKILL);
  REQUIRE(eventually([&] { return lines(f.second->output()) == 1; }));
  // The clock of the servers counts whole milliseconds.
  CHECK(redlock::Clock::now() - begun >= std::chrono::milliseconds{left - 1});
}

TEST_CASE("after_the_end_of_a_leader_with_a_lock_delay_the_next_one_leads_at_once") {
  Candidates f{"50s"};  // longer than `eventually` waits
  f.first.signal(SIGTERM);
  CHECK(f.first.wait().code == 128 + SIGTERM);
  REQUIRE(eventually([&] { return lines(f.second->output()) == 1; }));
}

TEST_CASE("elect_waits_for_nodes_once_it_has_led_and_reports_their_absence_before") {
  LocalNodes nodes{3};
  Program leader{candidate("first"), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return lines(leader.output()) == 1; }));
  nodes.kill(0);
  nodes.kill(1);
  REQUIRE(eventually([&] { return leader.errors().find("redlock: no quorum") != std::string::npos; }));
  CHECK(run_tool({"elect", "cron", "--", "true"}, nodes.urls()).code == 69);
  nodes.restart_empty(0);
  nodes.restart_empty(1);
  REQUIRE(eventually([&] { return lines(leader.output()) == 2; }));
}

TEST_CASE("elect_tries_again_while_the_nodes_refuse_it_once_it_has_led") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Program leader{candidate("first"), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return lines(leader.output()) == 1; }));
  servers.command({"ACL", "SETUSER", "default", "-evalsha", "-eval"});
  REQUIRE(eventually([&] { return leader.errors().find("redlock: misconfigured") != std::string::npos; }));
  servers.command({"ACL", "SETUSER", "default", "+@all"});
  REQUIRE(eventually([&] { return lines(leader.output()) == 2; }));
}

TEST_CASE("elect_says_how_it_is_used") {
  CHECK_THAT(run_tool({"elect", "cron", "true"}).errors, contains("redlock elect NAME -- CMD"));
  CHECK(run_tool({"elect", "cron"}).code == 64);
  CHECK_THAT(run_tool({"elect", "--help"}).output, contains("Usage: redlock elect [OPTIONS] NAME -- CMD..."));
}
