#include "tool/watch/watchdog.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "os/boot_timer.hpp"
#include "os/quiet_thread.hpp"
#include "os/system_error.hpp"
#include "redlock/core/base/early_wake_up.hpp"
#include "tool/watch/close_descriptors.hpp"

namespace redlock::tool {
namespace {

/// Leaves the job's process group, and closes all other descriptors. Lets the system continue this process, should it be
/// stopped, when its parent ends. It stays in the session: Linux shares the processors out between sessions (autogroups), and
/// woke the only process of a new one up to 0.7 s late while another one computed.
void detach_from_job(int parent, int timer) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "redlock-guard");
  ::prctl(PR_SET_PDEATHSIG, SIGCONT);
  ::prctl(PR_SET_DUMPABLE, 0);  // its memory may contain passwords, for example in the environment
  ::dup2(parent, 0);
  ::dup2(timer, 1);
  close_descriptors_from(2);
}

/// The main loop of the child process. Makes system calls only, as a child of fork() must.
[[noreturn]] void watch(Termination& termination, int parent, int timer) noexcept {
  for (;;) {
    const Clock::time_point due = termination.due();
    const Clock::time_point next = core::next_wake_up(due, Clock::now());
    detail::set_boot_timer(timer, next);
    pollfd polls[] = {{parent, POLLIN, 0}, {timer, POLLIN, 0}};
    if (::poll(polls, 2, -1) < 0) continue;
    char woken[16];
    if (polls[0].revents != 0 && ::read(parent, woken, sizeof woken) <= 0) {
      termination.kill_now();  // the parent has ended
      ::_exit(0);
    }
    // The deadline may have moved in the meantime.
    if (termination.due() <= Clock::now()) termination.send_due();
  }
}

}  // namespace

Watchdog::Watchdog(Termination& termination) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) detail::throw_errno("pipe");
  const detail::Descriptor reading{ends[0]};
  pipe_ = detail::Descriptor{ends[1]};
  const detail::Descriptor timer{::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC)};
  if (!timer) detail::throw_errno("timerfd_create");
  // The child keeps them blocked, as it never leaves this scope. Until it has left the terminal's job, which may take a
  // while on a busy machine, it gets the terminal's signals.
  const detail::BlockedSignals blocked;
  watcher_ = ::fork();
  if (watcher_ < 0) detail::throw_errno("fork");
  if (watcher_ > 0) return;
  pipe_ = detail::Descriptor{};  // or the end of this process would never end the pipe
  // Move them above the standard descriptors, which detach_from_job overwrites.
  const int high_reading = ::fcntl(reading.get(), F_DUPFD, 3);
  const int high_timer = ::fcntl(timer.get(), F_DUPFD, 3);
  detach_from_job(high_reading, high_timer);
  watch(termination, 0, 1);
}

Watchdog::~Watchdog() { stop(); }

bool Watchdog::wake() const noexcept {
  ssize_t written = 0;
  while ((written = ::write(pipe_.get(), "", 1)) < 0 && errno == EINTR) {
  }
  return written == 1;
}

bool Watchdog::is_gone() const noexcept {
  pollfd poll{pipe_.get(), 0, 0};
  return ::poll(&poll, 1, 0) > 0;
}

void Watchdog::stop() noexcept {
  const pid_t watcher = std::exchange(watcher_, 0);
  if (watcher == 0) return;
  ::kill(watcher, SIGKILL);  // also ends it if it is stopped
  while (::waitpid(watcher, nullptr, 0) < 0 && errno == EINTR) {
  }
  pipe_ = detail::Descriptor{};
}

}  // namespace redlock::tool
