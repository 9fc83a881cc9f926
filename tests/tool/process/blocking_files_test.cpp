// Files that block whoever opens them do not keep redlock from its end.
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/temp_folder.hpp"
#include "tool/program.hpp"

using namespace redlock::testing;

namespace {

/// A pipe that nobody writes to.
struct Pipe {
  Pipe() { REQUIRE(::mkfifo(path.c_str(), 0600) == 0); }

  TempFolder folder;
  const std::string path = folder.path() / "pipe";
};

}  // namespace

TEST_CASE("a_signal_ends_a_command_that_waits_for_its_file_of_nodes") {
  const Pipe pipe;
  const std::vector<std::string> words =
      GENERATE(std::vector<std::string>{"run", "r", "--", "true"},
               std::vector<std::string>{"elect", "r", "--", "true"}, std::vector<std::string>{"watch", "r"},
               std::vector<std::string>{"leader", "--watch", "r"});
  CAPTURE(words);
  std::vector<std::string> all = words;
  all.insert(all.begin() + 1, {"--nodes-file", pipe.path});
  Program blocked{tool(all)};
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  CHECK(blocked.is_running());
  blocked.signal(SIGTERM);
  CHECK(eventually([&] { return !blocked.is_running(); }));
  if (!blocked.is_running()) CHECK(blocked.wait().code == 128 + SIGTERM);
}

TEST_CASE("the_nodes_may_come_through_a_pipe") {
  LocalNodes nodes{1};
  const std::string text =
      "exec " REDLOCK_TOOL " run --nodes-file <(sleep 0.3; echo " + nodes.urls().front() + ") r -- echo held";
  const Program::Ending ending = Program{{"bash", "-c", text}}.wait();
  INFO(ending.errors);
  CHECK(ending.output == "held\n");
}

TEST_CASE("a_password_file_that_is_a_pipe_is_refused") {
  const Pipe pipe;
  for (const std::string command : {"run", "elect"}) {
    Program blocked{
        tool({command, "--node", "redis://127.0.0.1:1", "--password-file", pipe.path, "r", "--", "true"})};
    CHECK(eventually([&] { return !blocked.is_running(); }));
    if (blocked.is_running()) continue;
    const Program::Ending ending = blocked.wait();
    CHECK(ending.code == 64);
    CHECK_THAT(ending.errors, contains("the password file " + pipe.path +
                                       " is not a regular file, which can be read again and again"));
  }
  const Program::Ending substituted =
      Program{{"bash", "-c",
               "exec " REDLOCK_TOOL " run --node redis://127.0.0.1:1 --password-file <(echo x) r -- true"}}
          .wait();
  CHECK(substituted.code == 64);
  CHECK_THAT(substituted.errors, contains("is not a regular file"));
}
