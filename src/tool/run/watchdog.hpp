// A child process that ends the command at the deadline of its lock.
#pragma once

#include <sys/types.h>

#include "os/descriptor.hpp"
#include "redlock/clock.hpp"

namespace redlock::tool {

/// Sends SIGTERM to a process group at one time and SIGKILL at another, whatever happens to this process.
///
/// A child process that only watches the clock does this, so it also works while this process is stopped,
/// killed or busy with a slow node. If this process ends without `disarm`, the group is killed at once. Times
/// are measured by a clock that also runs while the machine is suspended. (Rejected alternatives: a timer in
/// this process, which does nothing while the process is stopped; PR_SET_PDEATHSIG, which reaches the direct
/// child only.)
///
/// Threads: one call at a time. Precondition of all calls: SIGPIPE is blocked or ignored.
class Watchdog {
 public:
  /// Forks, so call it before the process has other threads. Throws `std::system_error`.
  Watchdog();
  /// Ends the child process. Blocks until it is gone.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Sets the times and replaces earlier ones. A time in the past means at once. Returns false if the child
  /// process is gone; the group has then been killed. Makes system calls only and may be called in a child of
  /// this process.
  bool arm(pid_t group, Clock::time_point terminate_at, Clock::time_point kill_at) noexcept;
  /// Cancels the times. Call it before the group's leader is reaped: after that, its number may belong to
  /// another process group.
  void disarm() noexcept;

 private:
  struct Orders {
    pid_t group = 0;  // 0: none
    Clock::time_point terminate_at;
    Clock::time_point kill_at;
  };
  bool send(const Orders&) noexcept;
  [[noreturn]] static void watch(int orders, int timer) noexcept;

  detail::Descriptor orders_;
  pid_t watcher_ = 0;
};

}  // namespace redlock::tool
