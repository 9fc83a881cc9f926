// redlock run: the command never runs on past its lock.
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/clock.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/raw_client.hpp"
#include "support/own_process.hpp"
#include "tool/deployment.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;

namespace {

/// Ignores SIGTERM and prints, again and again, when it was alive: seconds since the machine was started.
const std::string stubborn = "trap '' TERM; while :; do cat /proc/uptime; sleep 0.01; done";

/// It goes on trying if the nodes are too slow for the first attempt, as they may be on a busy machine.
Program hold(const LocalNodes& nodes, const std::string& ttl, const std::string& script,
             const std::string& kill_after = "500ms") {
  return Program{
      tool({"run", "--wait", "20s", "--ttl", ttl, "--kill-after", kill_after, "r", "--", "sh", "-c", script}),
      {nodes_variable(nodes.urls())}};
}

/// The last sign of life, on the library's clock.
Clock::time_point last_life(const std::string& output) {
  const std::size_t end = output.rfind('\n');
  const std::size_t begin = output.rfind('\n', end - 1) + 1;
  const std::chrono::duration<double> uptime{std::stod(output.substr(begin))};
  return Clock::time_point{std::chrono::duration_cast<Clock::duration>(uptime)};
}

std::vector<pid_t> children_of(pid_t process) {
  const std::string task = "/proc/" + std::to_string(process) + "/task/" + std::to_string(process);
  std::ifstream file{task + "/children"};
  return {std::istream_iterator<pid_t>{file}, {}};
}

/// Whether the process has closed all descriptors. If it has ended, but was not waited for, it is still there, as a zombie
/// with one thread. While it has more threads (a sanitizer may have added one), these have its descriptors.
bool has_ended(pid_t process) {
  const std::string state = status_of(process, "State");
  return state.empty() || (state.starts_with('Z') && status_of(process, "Threads") == "1");
}

/// The process that watches the deadline for this holder; 0 if the holder has ended. On a busy machine that process may
/// not have its name yet, and the system may leave out a child while others end.
pid_t watchdog_if_alive(const Program& holder) {
  pid_t watchdog = 0;
  REQUIRE(eventually([&] {
    for (const pid_t child : children_of(holder.id()))
      if (status_of(child, "Name") == "redlock-guard") watchdog = child;
    return watchdog != 0 || !holder.is_running();
  }));
  return watchdog;
}
pid_t watchdog_of(const Program& holder) {
  const pid_t watchdog = watchdog_if_alive(holder);
  REQUIRE(watchdog != 0);
  return watchdog;
}

/// Nothing writes to the output any more.
bool is_dead(const Program& program) {
  const std::string before = program.output();
  std::this_thread::sleep_for(300ms);
  return program.output() == before;
}

/// `signal`: for the watchdog, when too few nodes answer any more.
void check_that_the_command_ends_without_watchdog_and_quorum(int signal) {
  LocalNodes nodes{3};
  Program holder = hold(nodes, "3s", stubborn);
  REQUIRE(eventually([&] { return !holder.output().empty(); }));
  for (const int node : {0, 1}) nodes.pause(node);
  const Clock::time_point latest_deadline = Clock::now() + 3s;
  ::kill(watchdog_of(holder), signal);
  REQUIRE(eventually([&] { return !holder.is_running(); }));
  CHECK(holder.wait().code == 72);
  CHECK(last_life(holder.output()) < latest_deadline);
}

}  // namespace

TEST_CASE("a_lock_is_kept_for_many_ttls_without_a_minority") {
  LocalNodes nodes{5};
  start_deployment(nodes);
  // An extension begins after a third of the ttl. A busy machine then has more than a second to complete it before
  // the command is asked to end.
  Program holder = hold(nodes, "2s", "echo began; sleep 12; echo ended", "100ms");
  REQUIRE(eventually([&] { return holder.output() == "began\n" && Observers{nodes}.having("r") == 5; }));
  nodes.pause(0);
  nodes.kill(1);
  const Program::Ending ending = holder.wait();
  CHECK(ending.code == 0);
  CHECK(ending.output == "began\nended\n");
}

TEST_CASE("a_command_whose_lock_cannot_be_kept_is_asked_to_end_before_the_deadline") {
  LocalNodes nodes{5};
  start_deployment(nodes);
  Program holder = hold(
      nodes, "4s",
      "trap 'echo told; cat /proc/uptime; exit 0' TERM; echo ready; while :; do sleep 0.01; done", "1500ms");
  REQUIRE(eventually([&] { return holder.output() == "ready\n" && Observers{nodes}.having("r") == 5; }));
  for (const int node : {0, 1, 2}) nodes.pause(node);
  const Clock::time_point latest_deadline = Clock::now() + 4s;  // of an extension that just came through
  const Program::Ending ending = holder.wait();
  CHECK(ending.code == 72);
  CHECK(ending.output.starts_with("ready\ntold\n"));
  CHECK(last_life(ending.output) < latest_deadline);
  CHECK_THAT(ending.errors, contains("redlock: the lock r could not be kept, so the command was terminated: "
                                     "too few nodes answered before the deadline\n  " +
                                     nodes.url(0) + ": timed out (") &&
                                contains("\n  " + nodes.url(4) + ": held ("));
}

TEST_CASE("a_command_that_will_not_end_is_killed_at_the_deadline") {
  LocalNodes nodes{5};
  Program holder = hold(nodes, "2s", stubborn);
  REQUIRE(eventually([&] { return !holder.output().empty(); }));
  for (const int node : {0, 1, 2}) nodes.pause(node);
  const Clock::time_point latest_deadline = Clock::now() + 2s;
  const Program::Ending ending = holder.wait();
  CHECK(ending.code == 72);
  CHECK(last_life(ending.output) < latest_deadline);
}

TEST_CASE("a_deleted_lock_ends_the_command_at_the_next_extension") {
  LocalNodes nodes{3};
  Program holder = hold(nodes, "3s", stubborn);
  REQUIRE(eventually([&] { return !holder.output().empty(); }));
  for (int node = 0; node < 3; ++node) RawClient{nodes.port(node)}.del("r");
  const Program::Ending ending = holder.wait();
  CHECK(ending.code == 72);
  CHECK_THAT(ending.errors, contains("redlock: the lock r could not be kept, so the command was terminated: "
                                     "a majority of the nodes no longer holds the lock\n  " +
                                     nodes.url(0) + ": free"));
}

TEST_CASE("the_command_of_a_killed_holder_dies_with_it_and_the_next_one_gets_the_lock") {
  LocalNodes nodes{5};
  Program holder = hold(nodes, "2s", "sh -c \"" + stubborn + "\" & wait");
  REQUIRE(eventually([&] { return !holder.output().empty(); }));
  holder.signal(SIGKILL);
  const Clock::time_point killed = Clock::now();
  const Program::Ending next = run_tool({"run", "-w", "60", "r", "--", "cat", "/proc/uptime"}, nodes.urls());
  CHECK(next.code == 0);
  CHECK(last_life(next.output) < killed + 2s + 1s);
  CHECK(is_dead(holder));  // also its children, of whom the holder knew nothing
}

TEST_CASE("the_command_of_a_stopped_holder_is_killed_at_the_deadline") {
  LocalNodes nodes{5};
  Program holder = hold(nodes, "2s", stubborn);
  REQUIRE(eventually([&] { return !holder.output().empty(); }));
  holder.signal(SIGSTOP);
  const Clock::time_point latest_deadline = Clock::now() + 2s;
  REQUIRE(eventually([&] { return Observers{nodes}.empty() == 5; }));
  CHECK(is_dead(holder));
  CHECK(last_life(holder.output()) < latest_deadline);
  holder.signal(SIGCONT);
  CHECK(holder.wait().code == 72);
}

TEST_CASE("the_watchdog_wakes_several_times_before_the_deadline") {
  LocalNodes nodes{1};
  CHECK(eventually([&] {  // not where the machine stands still all the while
    Program holder = hold(nodes, "2s", stubborn);
    REQUIRE(eventually([&] { return !holder.output().empty(); }));
    const pid_t guard = watchdog_of(holder);
    holder.signal(SIGSTOP);  // nobody else wakes the guard
    const std::uint64_t before = sleeps_of(guard);
    REQUIRE(eventually([&] { return Observers{nodes}.empty() == 1 && is_dead(holder); }));
    const std::uint64_t slept = sleeps_of(guard) - before;
    holder.signal(SIGCONT);
    CHECK(holder.wait().code == 72);
    return slept >= 6;  // two signals, and as a rule ten looks before each
  }));
}

TEST_CASE("background_processes_of_a_command_are_left_running_when_it_ends") {
  LocalNodes nodes{1};
  Program holder = hold(nodes, "2s", "sh -c 'sleep 0.3; echo still here' & echo done");
  CHECK(holder.wait().code == 0);
  CHECK(eventually([&] { return holder.output() == "done\nstill here\n"; }));
}

TEST_CASE("the_command_is_killed_if_its_watchdog_is_gone") {
  LocalNodes nodes{3};
  Program holder = hold(nodes, "1s", stubborn);
  REQUIRE(eventually([&] { return !holder.output().empty(); }));
  ::kill(watchdog_of(holder), SIGKILL);
  const Program::Ending ending = holder.wait();
  CHECK(ending.code == 72);
  CHECK_THAT(ending.errors,
             contains("redlock: the watchdog process of the lock r ended, so the command was killed\n  " +
                      nodes.url(0) + ": "));
  CHECK(eventually([&] { return Observers{nodes}.empty() == 3; }));
}

TEST_CASE("the_command_is_killed_at_once_if_its_watchdog_is_gone_and_not_only_at_the_next_extension") {
  LocalNodes nodes{3};
  Program holder = hold(nodes, "60s", stubborn);
  REQUIRE(eventually([&] { return !holder.output().empty(); }));
  ::kill(watchdog_of(holder), SIGKILL);
  const Clock::time_point killed = Clock::now();
  CHECK(holder.wait().code == 72);
  CHECK(last_life(holder.output()) < killed + 10s);  // an extension begins after 20 s
}

TEST_CASE("a_command_whose_watchdog_is_killed_while_too_few_nodes_answer_does_not_outlive_its_lock") {
  check_that_the_command_ends_without_watchdog_and_quorum(SIGKILL);
}

TEST_CASE("a_watchdog_may_be_killed_at_any_moment_of_a_renewal") {
  LocalNodes nodes{3};
  for (int run = 0; run < 12; ++run) {
    Program holder = hold(nodes, "500ms", stubborn, "100ms");
    REQUIRE(eventually([&] { return !holder.output().empty(); }));
    std::this_thread::sleep_for(run * 15ms);
    // On a busy machine the lock may be lost before, and with it the watchdog.
    if (const pid_t watchdog = watchdog_if_alive(holder)) ::kill(watchdog, SIGKILL);
    REQUIRE(eventually([&] { return !holder.is_running(); }));
    CHECK(is_dead(holder));
    CHECK(holder.wait().code == 72);
  }
}

TEST_CASE("a_holder_whose_watchdog_is_stopped_ends_the_command_itself") {
  check_that_the_command_ends_without_watchdog_and_quorum(SIGSTOP);
}

TEST_CASE("a_holder_whose_watchdog_is_stopped_keeps_its_lock_and_ends_normally") {
  LocalNodes nodes{3};
  Program holder = hold(nodes, "2s", "echo began; sleep 5; echo ended", "100ms");
  REQUIRE(eventually([&] { return holder.output() == "began\n"; }));
  ::kill(watchdog_of(holder), SIGSTOP);
  REQUIRE(eventually([&] { return !holder.is_running(); }));
  CHECK(holder.wait().code == 0);
}

TEST_CASE("a_stopped_watchdog_kills_the_command_when_its_holder_is_killed") {
  LocalNodes nodes{3};
  Program holder = hold(nodes, "60s", "sh -c \"" + stubborn + "\" & wait");
  REQUIRE(eventually([&] { return !holder.output().empty(); }));
  ::kill(watchdog_of(holder), SIGSTOP);
  holder.signal(SIGKILL);
  CHECK(eventually([&] { return is_dead(holder); }));  // also its children, of whom the holder knew nothing
}

TEST_CASE("a_holder_that_was_stopped_together_with_its_watchdog_kills_the_command_when_it_continues") {
  LocalNodes nodes{3};
  Program holder = hold(nodes, "1s", stubborn);
  REQUIRE(eventually([&] { return !holder.output().empty(); }));
  ::kill(watchdog_of(holder), SIGSTOP);
  holder.signal(SIGSTOP);
  REQUIRE(eventually([&] { return Observers{nodes}.empty() == 3; }));
  holder.signal(SIGCONT);
  REQUIRE(eventually([&] { return !holder.is_running(); }));
  CHECK(holder.wait().code == 72);
}

TEST_CASE("a_stopped_holder_whose_watchdog_was_killed_kills_the_command_when_it_continues") {
  LocalNodes nodes{3};
  Program holder = hold(nodes, "60s", stubborn);
  REQUIRE(eventually([&] { return !holder.output().empty(); }));
  holder.signal(SIGSTOP);
  ::kill(watchdog_of(holder), SIGKILL);
  holder.signal(SIGCONT);
  REQUIRE(eventually([&] { return !holder.is_running(); }));
  CHECK(holder.wait().code == 72);
}

TEST_CASE("no_command_starts_if_the_watchdog_was_killed_during_the_wait_for_the_lock") {
  LocalNodes nodes{3};
  auto lease = redlock::Redlock{{nodes.url(0), nodes.url(1), nodes.url(2)}}.lock("r", {.ttl = 60s}).value();
  Program waiting = hold(nodes, "60s", "echo began");
  const pid_t watchdog = watchdog_of(waiting);
  ::kill(watchdog, SIGKILL);
  REQUIRE(eventually([&] { return has_ended(watchdog); }));  // kill() does not wait for it
  lease.release();
  const Program::Ending ending = waiting.wait();
  CHECK(ending.code == 72);
  CHECK(ending.output.empty());
}

TEST_CASE("a_command_gets_a_single_SIGTERM") {
  LocalNodes nodes{3};
  Program holder =
      hold(nodes, "4s", "trap 'echo told' TERM; echo ready; while :; do sleep 0.01; done", "1500ms");
  REQUIRE(eventually([&] { return holder.output() == "ready\n"; }));
  for (const int node : {0, 1}) nodes.pause(node);
  const Program::Ending ending = holder.wait();
  CHECK(ending.code == 72);
  CHECK(ending.output == "ready\ntold\n");
}
