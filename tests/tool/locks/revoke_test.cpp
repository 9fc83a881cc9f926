// redlock revoke, and the commands that it ends.
#include <csignal>
#include <string>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "tool/program.hpp"

using namespace redlock::testing;

namespace {

/// `redlock run` with these options and a shell script.
std::vector<std::string> running(std::vector<std::string> options, const std::string& script) {
  options.insert(options.begin(), "run");
  options.insert(options.end(), {"job", "--", "sh", "-c", script});
  return tool(options);
}

/// Asks again until the code is this one: on a busy machine, a node may not answer within the time that the command gives it.
Program::Ending revoke_with(int code, const LocalNodes& nodes) {
  Program::Ending ending;
  REQUIRE(eventually([&] {
    ending = run_tool({"revoke", "job"}, nodes.urls());
    return ending.code == code;
  }));
  return ending;
}

}  // namespace

TEST_CASE("revoke_ends_a_revocable_command_whose_code_is_passed_on") {
  const LocalNodes nodes{3};
  Program job{running({"--revocable"}, "trap 'exit 7' TERM; echo begun; while :; do sleep 0.01; done"),
              {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return job.output() == "begun\n"; }));
  const Program::Ending asked = run_tool({"revoke", "job", "payroll \x1b[2J first"}, nodes.urls());
  CHECK(asked.code == 0);
  CHECK_THAT(asked.output, contains(" to give up job.\n"));
  CHECK(job.wait().code == 7);
  CHECK_THAT(job.errors(), contains("asked to give up the lock, so the command is terminated: payroll "));
  CHECK(job.errors().find('\x1b') == std::string::npos);
  CHECK(Observers{nodes}.having("job") == 0);
}

TEST_CASE("a_revoked_command_that_ignores_sigterm_is_killed_after_the_time_of_kill_after") {
  const LocalNodes nodes{3};
  Program job{running({"--revocable", "--kill-after", "100ms"},
                      "trap '' TERM; echo begun; while :; do sleep 0.01; done"),
              {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return job.output() == "begun\n"; }));
  REQUIRE(run_tool({"revoke", "job"}, nodes.urls()).code == 0);
  CHECK(job.wait().code == 128 + SIGKILL);
}

TEST_CASE("a_revoked_command_that_is_interrupted_ends_redlock_by_sigint") {
  const LocalNodes nodes{3};
  for (const std::string run : {"run", "elect"}) {
    Program job{
        tool({run, "--revocable", "--kill-after", "1h", "job", "--", "sh", "-c",
              "trap 'echo asked' TERM; trap 'exit 130' INT; echo begun; while :; do sleep 0.01; done"}),
        {nodes_variable(nodes.urls())}};
    REQUIRE(eventually([&] { return job.output() == "begun\n"; }));
    REQUIRE(run_tool({"revoke", "job"}, nodes.urls()).code == 0);
    REQUIRE(eventually([&] { return job.output() == "begun\nasked\n"; }));
    job.signal(SIGINT);
    const Program::Ending ending = job.wait();
    CHECK(ending.is_by_signal);
    CHECK(ending.code == 128 + SIGINT);
    CHECK(Observers{nodes}.having("job") == 0);
  }
}

TEST_CASE("a_candidate_that_gets_sigterm_while_its_command_is_revoked_does_not_stand_again") {
  const LocalNodes nodes{3};
  Program job{tool({"elect", "--revocable", "--kill-after", "1h", "job", "--", "sh", "-c",
                    "trap 'echo asked' TERM; trap 'exit 7' USR1; echo begun; while :; do sleep 0.01; done"}),
              {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return job.output() == "begun\n"; }));
  REQUIRE(run_tool({"revoke", "job"}, nodes.urls()).code == 0);
  REQUIRE(eventually([&] { return job.output() == "begun\nasked\n"; }));
  job.signal(SIGTERM);
  REQUIRE(eventually([&] { return job.output() == "begun\nasked\nasked\n"; }));
  job.signal(SIGUSR1);
  CHECK(job.wait().code == 7);
  CHECK(Observers{nodes}.having("job") == 0);
}

// The only candidate would win again at once, before whoever asked has called for the lock.
TEST_CASE("whoever_asks_a_leader_to_give_up_has_time_to_take_the_lock") {
  const LocalNodes nodes{3};
  Program leader{tool({"elect", "--revocable", "job", "--", "sh", "-c", "echo begun; exec sleep 600"}),
                 {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return leader.output() == "begun\n"; }));
  REQUIRE(run_tool({"revoke", "job"}, nodes.urls()).code == 0);
  Program other{tool({"run", "job", "--", "sh", "-c", "echo mine; exec sleep 600"}),
                {nodes_variable(nodes.urls())}};
  CHECK(eventually([&] { return other.output() == "mine\n"; }));
  CHECK(leader.output() == "begun\n");
  other.signal(SIGTERM);
  other.wait();
  CHECK(eventually([&] { return leader.output() == "begun\nbegun\n"; }));
}

TEST_CASE("revoke_says_that_it_asks_nobody_whose_key_never_expires") {
  const LocalNodes nodes{3};
  for (int node = 0; node < 3; ++node)
    REQUIRE(RawClient{nodes.port(node)}.command({"SET", "job", "abc"}) == "OK");
  const Program::Ending ending = run_tool({"revoke", "job"}, nodes.urls());
  CHECK(ending.code == 1);
  CHECK(ending.output.empty());
  CHECK_THAT(ending.errors, contains("nobody was asked: job is held by abc and never expires."));
}

TEST_CASE("revoke_and_release_say_why_the_nodes_refuse") {
  const LocalNodes nodes{3, {.password = "swordfish"}};
  std::vector<std::string> urls;
  for (int node = 0; node < 3; ++node)
    urls.push_back("redis://:cod@127.0.0.1:" + std::to_string(nodes.port(node)));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"revoke", "job"}, {"release", "--force", "--yes", "job"}}) {
    const Program::Ending ending = run_tool(words, urls);
    CHECK(ending.code == 64);
    CHECK_THAT(ending.errors, contains("Cannot tell who holds job: only 0 of 3 nodes voted.\n  redis://") &&
                                  contains("WRONGPASS"));
  }
}

TEST_CASE("a_command_that_is_not_revocable_goes_on") {
  const LocalNodes nodes{3};
  Program job{running({}, "echo begun; exec sleep 600"), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return job.output() == "begun\n"; }));
  CHECK(run_tool({"revoke", "job"}, nodes.urls()).code == 0);
  CHECK(Observers{nodes}.having("job") == 3);
  job.signal(SIGTERM);
  CHECK(job.wait().code == 128 + SIGTERM);
  CHECK(job.errors().empty());
}

// As when the holder gives the lock up before the slower nodes are asked.
TEST_CASE("revoke_has_asked_a_holder_whom_only_a_minority_of_the_nodes_names") {
  LocalNodes nodes{3};
  RawClient server{nodes.port(0)};
  for (const bool all_answer : {true, false}) {
    if (!all_answer) nodes.kill(2);
    for (const std::string value : {"redlock:shared", "0123456789abcdef0123456789abcdef01234567"}) {
      REQUIRE(server.command({"SET", "job", value, "PX", "60000"}) == "OK");
      const Program::Ending asked = revoke_with(0, nodes);
      CHECK_THAT(asked.output, contains("Asked ") && contains(" to give up job.\n"));
    }
  }
}

TEST_CASE("revoke_cannot_tell_which_of_two_holders_has_the_lock_if_a_silent_node_decides") {
  LocalNodes nodes{3};
  nodes.kill(2);
  for (const int node : {0, 1}) {
    const std::string value = std::string(40, node == 0 ? 'a' : 'b');
    REQUIRE(RawClient{nodes.port(node)}.command({"SET", "job", value, "PX", "60000"}) == "OK");
  }
  const Program::Ending asked = revoke_with(69, nodes);
  CHECK_THAT(asked.errors, contains("Cannot tell who holds job: only ") && contains(" of 3 nodes voted."));
}

TEST_CASE("revoke_reports_that_nobody_has_the_lock_or_that_too_few_nodes_answer") {
  LocalNodes nodes{3};
  const Program::Ending idle = run_tool({"revoke", "job"}, nodes.urls());
  CHECK(idle.code == 1);
  CHECK_THAT(idle.errors, contains("Nobody holds job."));
  const Program::Ending long_winded = run_tool({"revoke", "job", std::string(201, 'x')}, nodes.urls());
  CHECK(long_winded.code == 64);
  CHECK_THAT(long_winded.errors, contains("1 to 200"));
  nodes.kill(0);
  nodes.kill(1);
  CHECK(run_tool({"revoke", "job"}, nodes.urls()).code == 69);
}
