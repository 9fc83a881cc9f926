// redlock as process 1, as in a container.
#include <csignal>
#include <fstream>
#include <string>

#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "tool/program.hpp"

using namespace redlock::testing;

namespace {

/// Whether this user may create process namespaces.
bool has_namespaces() {
  const bool works = Program{{"bash", "-c", "unshare --pid --fork --mount-proc true"}}.wait().code == 0;
  if (!works) WARN("skipped: this user may not create a process namespace with unshare --pid --mount-proc");
  return works;
}

/// `arguments`: of redlock, as in a shell.
std::vector<std::string> as_first_process(const std::string& arguments) {
  return {"bash", "-c", "exec unshare --pid --fork --kill-child --mount-proc " REDLOCK_TOOL " " + arguments};
}

std::vector<std::string> run_as_first_process(const std::string& script) {
  return as_first_process("run r -- sh -c '" + script + "'");
}

/// Its parent ends at once, so process 1 becomes the parent. Prints its number.
const std::string orphan = "sh -c \"sh -c \\\"sleep 0.05\\\" & echo \\$!\"";

pid_t child_of(pid_t process) {
  const std::string id = std::to_string(process);
  pid_t child = 0;
  std::ifstream{"/proc/" + id + "/task/" + id + "/children"} >> child;
  return child;
}

}  // namespace

TEST_CASE("as_process_1_run_reaps_orphans") {
  if (!has_namespaces()) return;
  LocalNodes nodes{1};
  // Ends only when all orphans are gone, also from the table of processes. Else redlock kills it at last.
  const std::string script = "for i in 1 2 3; do orphan=$(" + orphan +
                             "); while [ -e /proc/$orphan ]; do sleep 0.02; done; echo reaped; done; exit 7";
  Program run{run_as_first_process(script), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return !run.is_running(); }));
  const Program::Ending ending = run.wait();
  CHECK(ending.output == "reaped\nreaped\nreaped\n");
  CHECK(ending.code == 7);
  CHECK(ending.errors.empty());
}

TEST_CASE("process_1_leaves_no_core_dump") {
  if (!has_namespaces()) return;
  LocalNodes nodes{1};
  std::string words = "exec unshare --pid --fork --kill-child --mount-proc";
  for (const std::string& word : without_rights()) words += ' ' + word;
  // The kernel's answer for another process of the same user is the user.
  words += " " REDLOCK_TOOL " run r -- stat -c %u /proc/1/environ /proc/self/environ";
  const Program::Ending ending = Program{{"bash", "-c", words}, {nodes_variable(nodes.urls())}}.wait();
  if (ending.code == 126 || ending.code == 127) {
    WARN("skipped: a user without rights may not run redlock here");
    return;
  }
  CHECK(ending.code == 0);
  CHECK_THAT(ending.output, Catch::Matchers::StartsWith("0\n"));
  CHECK(ending.output != "0\n0\n");
}

TEST_CASE("as_process_1_run_passes_signals_on") {
  if (!has_namespaces()) return;
  LocalNodes nodes{1};
  Program run{
      run_as_first_process("trap \"echo ended; exit 3\" TERM; echo going; while :; do sleep 0.02; done"),
      {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return run.output() == "going\n"; }));
  const pid_t first = child_of(run.id());
  REQUIRE(first > 0);
  REQUIRE(::kill(first, SIGTERM) == 0);
  REQUIRE(eventually([&] { return !run.is_running(); }));
  const Program::Ending ending = run.wait();
  CHECK(ending.output == "going\nended\n");
  CHECK(ending.code == 3);
}

TEST_CASE("process_1_continues_the_process_that_does_its_work") {
  if (!has_namespaces()) return;
  LocalNodes nodes{1};
  Program run{run_as_first_process("echo going; sleep 3600"), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return run.output() == "going\n"; }));
  const pid_t first = child_of(run.id());
  const pid_t worker = child_of(first);
  REQUIRE(worker > 0);
  ::kill(worker, SIGSTOP);
  ::kill(first, SIGTERM);  // a stopped worker would not pass it on
  REQUIRE(eventually([&] { return !run.is_running(); }));
  CHECK(run.wait().code == 143);
}

TEST_CASE("as_process_1_every_command_ends_at_SIGTERM") {
  if (!has_namespaces()) return;
  LocalNodes nodes{3};
  nodes.kill(2);
  Program waiting{as_first_process("nodes --wait"), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return waiting.errors().find(nodes.url(2)) != std::string::npos; }));
  const pid_t first = child_of(waiting.id());
  REQUIRE(first > 0);
  REQUIRE(::kill(first, SIGTERM) == 0);
  REQUIRE(eventually([&] { return !waiting.is_running(); }));
  CHECK(waiting.wait().code == 143);
}
