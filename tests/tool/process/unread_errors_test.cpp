// A stderr that nobody reads keeps no command from its lock, and no redlock from its end.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/temp_folder.hpp"
#include "testing/fd.hpp"
#include "tool/output.hpp"
#include "tool/program.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;

namespace {

/// Writes until nothing more fits.
void fill(int descriptor) {
  const std::string text(4096, 'x');
  ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  for (std::size_t size = text.size(); size > 0; size /= 2)
    while (::write(descriptor, text.data(), size) > 0) {
    }
  ::fcntl(descriptor, F_SETFL, 0);
}

/// A pipe that is full and that nobody reads.
class FullPipe {
 public:
  FullPipe() {
    REQUIRE(::mkfifo(path_.c_str(), 0666) == 0);
    pipe_ = detail::Fd{::open(path_.c_str(), O_RDWR | O_CLOEXEC)};
    fill(pipe_.get());
  }
  /// `redlock` with it as its stderr.
  std::vector<std::string> tool(const std::string& arguments) const {
    return {"bash", "-c", "exec " REDLOCK_TOOL " " + arguments + " 2>" + path_};
  }

 private:
  TempFolder folder_;
  const std::string path_ = folder_.path() / "pipe";
  detail::Fd pipe_;
};

struct Held {
  LocalNodes nodes{1};
  redlock::Redlock locks{nodes.urls()};
  std::optional<redlock::Lease> lease{locks.lock("r").value()};
  FullPipe pipe;
  std::vector<std::string> variables{nodes_variable(nodes.urls())};
};

/// More than a second, after which a wait is reported.
constexpr auto until_reported = 1500ms;

/// Stands for stderr.
class Errors {
 public:
  explicit Errors(int descriptor) { ::dup2(descriptor, STDERR_FILENO); }
  ~Errors() { ::dup2(before_.get(), STDERR_FILENO); }
  Errors(const Errors&) = delete;
  Errors& operator=(const Errors&) = delete;

 private:
  const detail::Fd before_{::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)};
};

/// Reads what is there.
std::string drain(int descriptor) {
  std::string text(1 << 20, '\0');
  ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  std::size_t size = 0;
  for (ssize_t got = 0; (got = ::read(descriptor, text.data() + size, text.size() - size)) > 0;)
    size += static_cast<std::size_t>(got);
  return text.substr(0, size);
}

}  // namespace

TEST_CASE("a_run_that_waited_starts_its_command_while_nobody_reads_stderr") {
  Held f;
  const std::string verbose = GENERATE("", "-v ");
  Program waiting{f.pipe.tool("run " + verbose + "r -- echo started"), f.variables};
  std::this_thread::sleep_for(until_reported);
  f.lease.reset();
  CHECK(eventually([&] { return waiting.output() == "started\n"; }));
  CHECK(eventually([&] { return !waiting.is_running(); }));
}

TEST_CASE("a_signal_or_the_time_limit_ends_a_wait_while_nobody_reads_stderr") {
  Held f;
  Program patient{f.pipe.tool("run r -- true"), f.variables};
  Program limited{f.pipe.tool("run -w 2 r -- true"), f.variables};
  std::this_thread::sleep_for(until_reported);
  patient.signal(SIGTERM);
  CHECK(eventually([&] { return !patient.is_running() && !limited.is_running(); }));
  if (!patient.is_running()) CHECK(patient.wait().code == 128 + SIGTERM);
  if (!limited.is_running()) CHECK(limited.wait().code == 1);
}

TEST_CASE("a_run_that_fails_ends_while_nobody_reads_stderr") {
  FullPipe pipe;
  Program failing{pipe.tool("run -w 1 --node redis://127.0.0.1:1 r -- true")};
  CHECK(eventually([&] { return !failing.is_running(); }));
  if (!failing.is_running()) CHECK(failing.wait().code == 69);
}

TEST_CASE("a_leader_whose_lock_was_lost_stands_again_while_nobody_reads_stderr") {
  LocalNodes nodes{1};
  Observers servers{nodes};
  FullPipe pipe;
  Program leader{pipe.tool("elect --restart-guard off --ttl 3s --lock-delay 0 --candidate a r -- "
                           "sh -c 'echo leads; exec sleep 600'"),
                 {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return leader.output() == "leads\n" && servers[0].get("r"); }));
  servers[0].del("r");
  CHECK(eventually([&] { return leader.output().starts_with("leads\nleads\n"); }));
  leader.signal(SIGTERM);
  CHECK(eventually([&] { return !leader.is_running(); }));
}

TEST_CASE("a_text_for_a_stderr_that_takes_nothing_is_dropped_after_the_patience") {
  int ends[2];
  const bool is_socket = GENERATE(false, true);
  REQUIRE((is_socket ? ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)
                     : ::pipe2(ends, O_CLOEXEC)) == 0);
  const detail::Fd reading{ends[0]};
  const detail::Fd writing{ends[1]};
  const auto told = [&](const std::string& text, std::chrono::milliseconds patience) {
    const Errors errors{writing.get()};
    const Clock::time_point begun = Clock::now();
    redlock::tool::tell(text, patience);
    return Clock::now() - begun;
  };
  fill(writing.get());
  CHECK(told("lost\n", 0ms) < 5s);
  const Clock::duration waited = told("lost\n", 100ms);
  CHECK(waited >= 100ms);
  CHECK(waited < 5s);
  CHECK(drain(reading.get()).find("lost") == std::string::npos);
  told("read\n", 0ms);
  CHECK(drain(reading.get()) == "read\n");
  CHECK(told(std::string(1 << 21, 'x'), 100ms) < 5s);  // begins to fit
  CHECK_FALSE(drain(reading.get()).empty());
  CHECK((::fcntl(writing.get(), F_GETFL) & O_NONBLOCK) == 0);  // others write to it as well
}
