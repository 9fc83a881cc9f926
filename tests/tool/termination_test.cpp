// The signals that end a command at its deadline.
#include "tool/watch/termination.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "redlock/core/base/time.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;
using redlock::Clock;
using redlock::tool::Termination;

namespace {

/// A child process that waits for signals. SIGTERM does not end it.
class Child {
 public:
  /// Puts it into a process group of its own, or else into the group of this process.
  explicit Child(bool own_group) {
    const auto before = ::signal(SIGTERM, SIG_IGN);  // inherited by the child
    pid_ = ::fork();
    while (pid_ == 0) ::pause();
    ::signal(SIGTERM, before);
    if (own_group) REQUIRE(::setpgid(pid_, pid_) == 0);
  }
  ~Child() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Blocks until it ends, and returns the signal that ended it.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
};

}  // namespace

TEST_CASE("nothing_is_due_without_a_command") {
  Termination termination;
  CHECK(termination.due() == redlock::core::never);
  termination.kill_now();
  CHECK_FALSE(termination.has_begun_by(Clock::now()));
}

TEST_CASE("SIGTERM_is_due_before_the_deadline_and_SIGKILL_at_the_deadline") {
  Child child{true};
  Termination termination;
  const Clock::time_point now = Clock::now();
  termination.begin(child.pid(), now + 100h, 1h);
  CHECK(termination.due() == now + 99h);
  termination.move(now + 200h);
  CHECK(termination.due() == now + 199h);
  termination.send_due();
  CHECK_FALSE(termination.has_begun_by(Clock::now()));
  termination.move(now + 30min);
  termination.send_due();
  CHECK(termination.has_begun_by(Clock::now()));
  CHECK_FALSE(termination.has_begun_by(now));
  CHECK(termination.due() == now + 30min);
  termination.move(now + 100h);  // too late
  CHECK(termination.due() == now + 30min);
}

TEST_CASE("another_process_sees_that_the_signals_were_sent") {
  Child child{true};
  Termination termination;
  const pid_t other = ::fork();
  if (other == 0) {
    termination.begin(child.pid(), Clock::now(), 1s);
    termination.send_due();
    ::_exit(0);
  }
  ::waitpid(other, nullptr, 0);
  CHECK(termination.has_begun_by(Clock::now()));
  CHECK(termination.due() == redlock::core::never);
  CHECK(child.wait() == SIGKILL);
}

TEST_CASE("a_command_that_left_its_process_group_is_killed_as_well") {
  Child child{false};
  Termination termination;
  termination.begin(child.pid(), Clock::now() + 1h, 1s);
  termination.kill_now();
  CHECK(child.wait() == SIGKILL);
}

TEST_CASE("SIGKILL_comes_within_the_time_of_an_earlier_end_or_at_the_deadline") {
  Child child{true};
  Termination termination;
  const Clock::time_point now = Clock::now();
  termination.begin(child.pid(), now + 100h, 1h);
  termination.end_within(2h);
  CHECK(termination.has_begun_by(Clock::now()));
  CHECK(termination.due() >= now + 2h);
  CHECK(termination.due() <= Clock::now() + 2h);
  termination.end_within(200h);  // later than before
  CHECK(termination.due() <= Clock::now() + 2h);
}

TEST_CASE("an_end_of_the_command_is_not_undone_by_a_renewal_at_the_same_time") {
  Child child{true};
  for (int round = 0; round < 200; ++round) {
    Termination termination;
    const Clock::time_point begin = Clock::now();
    termination.begin(child.pid(), begin + 50h, 1h);
    std::atomic<int> moves{0};
    std::atomic<bool> is_over{false};
    std::jthread keeper{[&] {
      for (; !is_over; ++moves) termination.move(begin + 60h + moves.load() * 1us);
    }};
    while (moves < 3) std::this_thread::yield();
    termination.end_within(2h);
    is_over = true;
    keeper.join();
    REQUIRE(termination.due() <= Clock::now() + 2h);
  }
}
