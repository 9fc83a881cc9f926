#include "tool/run/watchdog.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "os/boot_timer.hpp"
#include "redlock/core/base/early_wake_up.hpp"

namespace redlock::tool {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error{errno, std::system_category(), what}; }

/// Leaves the terminal's session, blocks all signals, and closes all other descriptors.
void detach_from_job(int orders, int timer) noexcept {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::setsid();
  ::prctl(PR_SET_NAME, "redlock-guard");
  ::dup2(orders, 0);
  ::dup2(timer, 1);
  ::close_range(2, ~0U, 0);
}

}  // namespace

Watchdog::Watchdog() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  const detail::Descriptor reading{ends[0]};
  orders_ = detail::Descriptor{ends[1]};
  const detail::Descriptor timer{::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC)};
  if (!timer) fail("timerfd_create");
  watcher_ = ::fork();
  if (watcher_ < 0) fail("fork");
  if (watcher_ > 0) return;
  // Move them above the standard descriptors, which detach_from_job overwrites.
  const int high_orders = ::fcntl(reading.get(), F_DUPFD, 3);
  const int high_timer = ::fcntl(timer.get(), F_DUPFD, 3);
  detach_from_job(high_orders, high_timer);
  watch(0, 1);
}

Watchdog::~Watchdog() {
  orders_ = detail::Descriptor{};
  while (::waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool Watchdog::arm(pid_t group, Clock::time_point terminate_at, Clock::time_point kill_at) noexcept {
  const bool is_watched = send({group, terminate_at, kill_at});
  if (!is_watched) ::kill(-group, SIGKILL);
  return is_watched;
}

void Watchdog::disarm() noexcept { send({}); }

bool Watchdog::send(const Orders& orders) noexcept {
  ssize_t written = 0;
  while ((written = ::write(orders_.get(), &orders, sizeof orders)) < 0 && errno == EINTR) {
  }
  return written == sizeof orders;  // shorter than PIPE_BUF, so the write is atomic
}

/// The main loop of the child process. Makes system calls only, as a child of fork() must.
void Watchdog::watch(int orders_end, int timer) noexcept {
  Orders orders;
  Clock::time_point due = core::never;
  bool terminated = false;
  for (;;) {
    const Clock::time_point next = core::next_wake_up(due, Clock::now());
    detail::set_boot_timer(timer, next);
    pollfd polls[] = {{orders_end, POLLIN, 0}, {timer, POLLIN, 0}};
    if (::poll(polls, 2, -1) < 0) continue;
    if (polls[0].revents != 0) {
      const ssize_t got = ::read(orders_end, &orders, sizeof orders);
      if (got != sizeof orders && orders.group != 0) ::kill(-orders.group, SIGKILL);
      if (got != sizeof orders) ::_exit(0);  // the parent ended or closed the pipe
      due = orders.group == 0 ? core::never : orders.terminate_at;
      terminated = false;
    } else if (polls[1].revents != 0 && next == due) {
      ::kill(-orders.group, terminated ? SIGKILL : SIGTERM);
      // A stopped command handles SIGTERM only when it continues.
      if (!terminated) ::kill(-orders.group, SIGCONT);
      due = terminated ? core::never : orders.kill_at;
      terminated = true;
    }
  }
}

}  // namespace redlock::tool
