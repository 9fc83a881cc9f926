// What happens to a command whose lock somebody asks for.
#include "tool/run/revocation.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <iostream>
#include <streambuf>
#include <string>

#include "support/catch.hpp"
#include "testing/fd.hpp"
#include "tool/watch/termination.hpp"

using namespace std::chrono_literals;
using redlock::Clock;
using redlock::testing::contains;
using redlock::testing::detail::Fd;
using redlock::tool::Revocation;
using redlock::tool::Termination;

namespace {

/// Takes the place of stderr, which is a file meanwhile. Notes whether the command had got its signal when the first byte was
/// written, and how many writes there were.
class Screen : public std::streambuf {
 public:
  explicit Screen(const Termination& termination) : termination_{termination} {
    const Fd nothing{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
    ::dup2(nothing.get(), STDERR_FILENO);
  }
  ~Screen() override {
    std::cerr.rdbuf(before_);
    ::dup2(stderr_.get(), STDERR_FILENO);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  std::string text;
  bool came_after_signal = false;
  int writes = 0;

 protected:
  int overflow(int byte) override {
    const char character = static_cast<char>(byte);
    xsputn(&character, 1);
    return byte;
  }
  std::streamsize xsputn(const char* bytes, std::streamsize size) override {
    if (text.empty()) came_after_signal = termination_.has_begun_by(Clock::now());
    text.append(bytes, static_cast<std::size_t>(size));
    ++writes;
    return size;
  }

 private:
  const Termination& termination_;
  const Fd stderr_{::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)};
  std::streambuf* const before_ = std::cerr.rdbuf(this);
};

/// A command in a process group of its own.
struct Sleeper {
  Sleeper() {
    pid = ::fork();
    while (pid == 0) ::pause();
    REQUIRE(::setpgid(pid, pid) == 0);
  }
  ~Sleeper() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  pid_t pid = 0;
};

}  // namespace

TEST_CASE("the_command_gets_its_signal_before_the_request_is_written") {
  Termination termination;
  const Sleeper command;
  termination.begin(command.pid, Clock::now() + 1h, 1s);
  Revocation revocation{termination, 10s};
  revocation.begin();
  Screen screen{termination};
  revocation.callback()("maintenance");
  CHECK(screen.came_after_signal);
  CHECK_THAT(screen.text, contains("asked to give up the lock"));
  CHECK_THAT(screen.text, contains("maintenance\n"));
  CHECK(revocation.is_asked());
}

TEST_CASE("the_text_of_a_request_is_one_write_so_that_no_text_of_the_command_is_in_the_middle_of_it") {
  Termination termination;
  Revocation revocation{termination, 10s};
  Screen screen{termination};
  revocation.callback()("maintenance");
  CHECK_THAT(screen.text, contains("terminated: maintenance\n"));
  CHECK(screen.writes == 1);
}

TEST_CASE("a_request_before_the_command_begins_ends_it_when_it_begins") {
  Termination termination;
  const Sleeper command;
  termination.begin(command.pid, Clock::now() + 1h, 1s);
  Revocation revocation{termination, 10s};
  Screen screen{termination};
  revocation.callback()("");
  CHECK_FALSE(termination.has_begun_by(Clock::now()));
  revocation.begin();
  CHECK(termination.has_begun_by(Clock::now()));
}

TEST_CASE("a_request_after_the_end_of_the_command_has_no_effect") {
  Termination termination;
  const Sleeper other;  // as if it had got the number of the command
  termination.begin(other.pid, Clock::now() + 1h, 1s);
  Revocation revocation{termination, 10s};
  revocation.begin();
  revocation.end();
  Screen screen{termination};
  revocation.callback()("late");
  CHECK_FALSE(termination.has_begun_by(Clock::now()));
  CHECK(screen.text.empty());
  CHECK_FALSE(revocation.is_asked());
}
