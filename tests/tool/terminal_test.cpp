// redlock at a terminal: keys go to the command of run, the shell's job control works, and release asks.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <poll.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "integration/hostile/attacks.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/raw_client.hpp"
#include "support/temp_folder.hpp"
#include "testing/fd.hpp"
#include "testing/process_group.hpp"
#include "tool/program.hpp"

using namespace redlock::testing;

namespace {

constexpr const char* ctrl_c = "\x03";
constexpr const char* ctrl_d = "\x04";
constexpr const char* ctrl_q = "\x11";
constexpr const char* ctrl_s = "\x13";
constexpr const char* ctrl_z = "\x1a";

/// An interactive shell on its own terminal.
class Shell {
 public:
  explicit Shell(const LocalNodes& nodes) : Shell{nodes, {"bash", "--norc", "--noediting", "-i"}} {
    REQUIRE(sees("> "));
  }
  /// Another program, as below `ssh -t`: no shell is there to continue it.
  Shell(const LocalNodes& nodes, const std::vector<std::string>& words) {
    const std::string variable = nodes_variable(nodes.urls());
    std::vector<const char*> all{"env", variable.c_str(), "PS1=> "};
    for (const std::string& word : words) all.push_back(word.c_str());
    all.push_back(nullptr);
    int terminal = -1;
    pid_ = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      ::execv("/usr/bin/env", const_cast<char* const*>(all.data()));
      ::_exit(127);
    }
    terminal_ = detail::Fd{terminal};
  }
  ~Shell() {
    terminal_.reset();  // sends SIGHUP to all processes of the terminal
    ::waitpid(pid_, nullptr, 0);
  }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  void type(const std::string& keys) { REQUIRE(::write(terminal_.get(), keys.data(), keys.size()) > 0); }
  /// Waits until the text appears on the screen. Discards it and everything before it.
  bool sees(const std::string& text) { return before(text).has_value(); }
  /// The same. Returns what was before the text.
  std::optional<std::string> before(const std::string& text) {
    for (;;) {
      if (const std::size_t at = screen_.find(text); at != std::string::npos) {
        std::string before = screen_.substr(0, at);
        screen_.erase(0, at + text.size());
        return before;
      }
      pollfd poll{terminal_.get(), POLLIN, 0};
      std::array<char, 4096> bytes{};
      const ssize_t got =
          ::poll(&poll, 1, 20'000) == 1 ? ::read(terminal_.get(), bytes.data(), bytes.size()) : 0;
      if (got <= 0) {
        UNSCOPED_INFO("the screen says: " << screen_);
        return std::nullopt;
      }
      screen_.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  pid_t pid_ = 0;
  detail::Fd terminal_;
  std::string screen_;
};

const std::string run = std::string{REDLOCK_TOOL} + " run ";
/// Starts no further program: a shell in the middle of a vfork() cannot be stopped.
const std::string reader = "r -- sh -c 'echo go''ing; read line; echo re''ad $line'";
/// Reads the empty line that is typed after it first. From then on it has the terminal and runs. A ^Z between the transfer of
/// the terminal and the SIGCONT gets lost, as in every shell.
const std::string holder = "r -- sh -c 'read none; echo go''ing; read line; echo re''ad $line'";

/// A shell reports background jobs only before its next prompt, so this waits for the job to stop.
constexpr const char* until_stopped = "until jobs | grep Stop''ped; do sleep 0.02; done\n";

}  // namespace

TEST_CASE("the_command_reads_from_the_terminal") {
  LocalNodes nodes{1};
  Shell shell{nodes};
  shell.type(run + "r -- cat; echo code $?\n");
  shell.type("hello\n");
  CHECK(shell.sees("hello\r\nhello\r\n"));
  shell.type(ctrl_d);
  CHECK(shell.sees("code 0\r\n"));
}

TEST_CASE("a_waiting_run_updates_its_place_in_line_on_the_terminal") {
  LocalNodes nodes{1};
  Shell shell{nodes};
  RawClient server{nodes.port(0)};
  const auto end_holder = [&] { run_tool({"release", "--force", "--yes", "r"}, nodes.urls()); };
  shell.type(run + "r -- sleep 600 &\n");
  REQUIRE(eventually([&] { return !server.locks().empty(); }));
  shell.type(run + "-q r -- sleep 600 &\n");
  REQUIRE(eventually([&] { return server.command({"ZCARD", "redlock:qo:{r}"}) == "1"; }));
  shell.type(run + "r -- echo do''ne\n");
  CHECK(shell.sees("\rwaiting for r: 2nd in line, held by "));
  end_holder();
  CHECK(shell.sees("\rwaiting for r: 1st in line, held by "));
  end_holder();
  CHECK(shell.sees("done\r\n"));
}

TEST_CASE("an_interrupt_ends_the_command_and_the_surrounding_shell_loop") {
  LocalNodes nodes{1};
  Shell shell{nodes};
  shell.type("for i in 1 2 3; do " + run + reader + "; done; echo never\n");
  REQUIRE(shell.sees("going\r\n"));
  shell.type(ctrl_c);
  CHECK(shell.sees("\n> "));
  shell.type("echo code $?\n");
  CHECK(shell.sees("code 130\r\n"));
}

TEST_CASE("a_stopped_job_continues_where_it_was") {
  LocalNodes nodes{1};
  Shell shell{nodes};
  shell.type(run + holder + "\n\n");
  REQUIRE(shell.sees("going\r\n"));
  shell.type(ctrl_z);
  REQUIRE(shell.sees("Stopped"));
  shell.type("fg; echo code $?\n");
  shell.type("this\n");
  CHECK(shell.sees("read this\r\n"));
  CHECK(shell.sees("code 0\r\n"));
}

TEST_CASE("a_job_stopped_past_its_deadline_never_continues") {
  LocalNodes nodes{1};
  Shell shell{nodes};
  shell.type(run + "--ttl 1s " + holder + "\n\n");
  REQUIRE(shell.sees("going\r\n"));
  shell.type(ctrl_z);
  REQUIRE(shell.sees("Stopped"));
  shell.type(run + "-w 60 r -- echo next''one\n");  // gets the lock after the deadline of the first one
  REQUIRE(shell.sees("nextone\r\n"));
  shell.type("fg\n");
  CHECK(shell.sees("the lock r could not be kept, so the command was terminated"));
  shell.type("echo code $?\n");
  CHECK(shell.sees("code 72\r\n"));
}

TEST_CASE("a_job_continued_in_the_background_leaves_the_terminal_to_the_shell") {
  LocalNodes nodes{1};
  Shell shell{nodes};
  shell.type(run + holder + "\n\n");
  REQUIRE(shell.sees("going\r\n"));
  shell.type(ctrl_z);
  REQUIRE(shell.sees("Stopped"));
  shell.type("bg\n");  // tries to read, so it is stopped again
  shell.type(until_stopped);
  CHECK(shell.sees("Stopped"));
  shell.type("fg\n");
  shell.type("this\n");
  CHECK(shell.sees("read this\r\n"));
}

TEST_CASE("a_job_started_in_the_background_can_read_in_the_foreground") {
  LocalNodes nodes{1};
  Shell shell{nodes};
  shell.type(run + reader + " &\n");
  REQUIRE(shell.sees("going\r\n"));
  shell.type(until_stopped);
  REQUIRE(shell.sees("Stopped"));
  shell.type("fg\n");
  shell.type("this\n");
  CHECK(shell.sees("read this\r\n"));
}

TEST_CASE("the_other_commands_of_a_pipeline_keep_the_terminal") {
  LocalNodes nodes{1};
  Shell shell{nodes};
  shell.type(
      run +
      "r -- sh -c 'sleep 0.3; echo pip''ed' | sh -c 'read typed </dev/tty; cat; echo ty''ped $typed'\n");
  shell.type("this\n");
  CHECK(shell.sees("piped\r\n"));
  CHECK(shell.sees("typed this\r\n"));
}

TEST_CASE("without_a_shell_that_could_continue_it_a_command_does_not_stop") {
  LocalNodes nodes{1};
  const std::string command = "read none; echo going; read line; echo read $line";
  const std::string script =
      run + "r -- sh -c 'read none; echo going; read line; echo read $line'; echo code $?";
  for (const std::vector<std::string>& words :
       {tool({"run", "r", "--", "sh", "-c", command}), std::vector<std::string>{"sh", "-c", script}}) {
    Shell terminal{nodes, words};
    terminal.type("\n");
    REQUIRE(terminal.sees("going\r\n"));
    terminal.type(ctrl_z);
    REQUIRE(terminal.sees("^Z"));
    terminal.type("this\n");
    CHECK(terminal.sees("read this\r\n"));
  }
}

TEST_CASE("without_a_shell_that_could_continue_it_a_waiting_run_does_not_stop") {
  LocalNodes nodes{1};
  Program held{tool({"run", "r", "--", "sleep", "600"}), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return RawClient{nodes.port(0)}.get("r").has_value(); }));
  Shell terminal{nodes, tool({"run", "r", "--", "echo",
                              "fin"
                              "ished"})};
  REQUIRE(terminal.sees("waiting for r"));
  terminal.type(ctrl_z);
  REQUIRE(terminal.sees("^Z"));
  held.signal(SIGTERM);
  CHECK(terminal.sees("finished\r\n"));
}

TEST_CASE("a_script_in_a_shell_stops_and_continues_with_its_command") {
  LocalNodes nodes{1};
  Shell shell{nodes};
  shell.type("sh -c \"" + run +
             "r -- sh -c 'read none; echo go''ing; read line; echo re''ad \\$line'; echo co''de \\$?\"\n\n");
  REQUIRE(shell.sees("going\r\n"));
  shell.type(ctrl_z);
  REQUIRE(shell.sees("Stopped"));
  shell.type("fg\n");
  shell.type("this\n");
  CHECK(shell.sees("read this\r\n"));
  CHECK(shell.sees("code 0\r\n"));
}

TEST_CASE("a_stop_that_is_meant_for_a_run_alone_leaves_its_script_running") {
  LocalNodes nodes{1};
  Shell shell{nodes};
  const TempFolder files;
  const std::string started = (files.path() / "started").string();
  const std::string script =
      files.write("script", run + "r -- sh -c 'touch " + started + "; exec sleep 600' & run=$!\n" +
                                "until [ -e " + started + " ]; do sleep 0.02; done; kill -TSTP $run\n" +
                                "until grep -q '^State:.T' /proc/$run/status; do sleep 0.02; done\n" +
                                "echo on it goes; kill -CONT $run; kill $run; wait $run; echo code $?\n");
  shell.type("bash " + script + "\n");
  CHECK(shell.sees("on it goes\r\n"));
  CHECK(shell.sees("code 143\r\n"));
}

TEST_CASE("an_interrupt_ends_the_surrounding_script") {
  LocalNodes nodes{1};
  Shell shell{nodes};
  for (const std::string& command : {reader, std::string{"r -- sh -c 'echo go''ing; exec sleep 60'"}}) {
    shell.type("bash -c \"for i in 1 2; do " + run + command + "; done; echo never\"\n");
    REQUIRE(shell.sees("going\r\n"));
    shell.type(ctrl_c);
    REQUIRE(shell.sees("> "));
    shell.type("echo co''de $?\n");
    CHECK(shell.sees("code 130\r\n"));
  }
}

TEST_CASE("a_waiting_command_shows_the_holder_in_one_line_that_disappears") {
  LocalNodes nodes{1};
  Program held{tool({"run", "--label", "web3:4711", "r", "--", "sleep", "60"}),
               {nodes_variable(nodes.urls())}};
  Shell shell{nodes};
  shell.type("until ! " + std::string{REDLOCK_TOOL} + " run -n r -- true; do sleep 0.1; done\n");
  REQUIRE(shell.sees("\n> "));
  shell.type("stty cols 40; " + run + "r -- echo fin''ished\n");
  CHECK(shell.sees("\rwaiting for r: 1st in line, held by web\x1b[K"));
  CHECK(shell.sees("\rwaiting for r: 1st in line, held by web\x1b[K"));
  held.signal(SIGTERM);
  CHECK(shell.sees("\r\x1b[Kfinished\r\n"));
}

TEST_CASE("the_line_of_a_waiting_command_shows_a_hostile_holder_in_printable_text") {
  LocalNodes nodes{1};
  redlock::Redlock locks{nodes.urls()};
  const redlock::Lease held = locks.lock("r", {.ttl = std::chrono::seconds{60}, .label = escapes}).value();
  Shell shell{nodes};
  shell.type("stty cols 1000; " + run + "r -- true\n");
  REQUIRE(shell.sees("\rwaiting for r: 1st in line, held by "));
  const std::optional<std::string> shown = shell.before("\x1b[K");
  REQUIRE(shown);
  CHECK(std::ranges::all_of(*shown, [](char byte) { return byte >= ' ' && byte <= '~'; }));
  for (const char* const part : {"\\x1b[2J", "\\xc2\\x9b3", "\\xe2\\x80\\xae", "\\xe2\\x80\\x8b"})
    CHECK_THAT(*shown, contains(part));
}

TEST_CASE("release_shows_who_would_lose_the_lock_and_asks") {
  LocalNodes nodes{3};
  Program nightly{tool({"run", "--label", "the nightly one", "r", "--", "sleep", "3600"}),
                  {nodes_variable(nodes.urls())}};
  Shell shell{nodes};
  const std::string tool = REDLOCK_TOOL;
  shell.type("until " + tool + " list | grep 3/3; do sleep 0.02; done; echo th''ere\n");
  REQUIRE(shell.sees("there\r\n"));
  for (const std::string& no : {std::string{"\n"}, std::string{"n\n"}, std::string{ctrl_d}}) {
    shell.type(tool + " release --force r; echo co''de $?\n");
    REQUIRE(shell.sees("r is held by the nightly one since 2"));
    REQUIRE(shell.sees("Release it? [y/N] "));
    shell.type(no);
    CHECK(shell.sees("released nothing\r\n"));
    CHECK(shell.sees("code 1\r\n"));
  }
  CHECK(nightly.is_running());
  shell.type(tool + " release --force r; echo co''de $?\n");
  REQUIRE(shell.sees("Release it? [y/N] "));
  shell.type("y\n");
  CHECK(shell.sees("Released r, held by the nightly one since 2"));
  CHECK(shell.sees("code 0\r\n"));
  CHECK(nightly.wait().code == 72);
}

TEST_CASE("release_says_so_if_the_holder_released_the_lock_before_the_answer") {
  LocalNodes nodes{3};
  Program nightly{tool({"run", "--label", "the nightly one", "r", "--", "sleep", "3600"}),
                  {nodes_variable(nodes.urls())}};
  Shell shell{nodes};
  const std::string tool = REDLOCK_TOOL;
  shell.type("until " + tool + " list | grep 3/3; do sleep 0.02; done; echo th''ere\n");
  REQUIRE(shell.sees("there\r\n"));
  shell.type(tool + " release --force r; echo co''de $?\n");
  REQUIRE(shell.sees("Release it? [y/N] "));
  nightly.signal(SIGTERM);
  nightly.wait();
  shell.type("y\n");
  CHECK(shell.sees("redlock: nothing to release: r is no longer held by the nightly one since 2"));
  CHECK(shell.sees("code 1\r\n"));
}

TEST_CASE("a_run_that_waited_starts_its_command_while_the_terminal_is_stopped") {
  LocalNodes nodes{1};
  RawClient server{nodes.port(0)};
  Program other{tool({"run", "r", "--", "sleep", "600"}), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return !server.locks().empty(); }));
  const detail::ProcessGroup files;
  const std::string started = files.folder() + "/started";
  Shell shell{nodes};
  shell.type(run + "r -- touch " + started + "\n");
  REQUIRE(shell.sees("\rwaiting for r: "));
  shell.type(ctrl_s);
  std::this_thread::sleep_for(std::chrono::milliseconds{1500});  // the next report is due
  other.signal(SIGTERM);
  CHECK(eventually([&] { return std::filesystem::exists(started); }));
  shell.type(ctrl_q);
}
