// A process that ends a command when its lock ends.
#pragma once

#include <sys/types.h>

#include "os/descriptor.hpp"
#include "redlock/clock.hpp"

namespace redlock::tool {

/// SIGTERM to a process group at one time, SIGKILL at another, whatever becomes of this process.
///
/// The promise is kept by a child process that only watches the clock: this process may be killed, stopped, or busy
/// asking a slow node. When this process ends without `disarm`, the group is killed at once. The times are on the
/// clock that also runs while the machine is suspended. (Rejected: a timer of this process, which does nothing while
/// the process is stopped; PR_SET_PDEATHSIG, which reaches the direct child only.)
///
/// Threads: one call at a time. Precondition of all calls: SIGPIPE is blocked or ignored.
class Watchdog {
 public:
  /// Forks; call it before the process has threads. Throws `std::system_error`.
  Watchdog();
  /// Ends the watching process. Blocks until it is gone.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// From now on these times are in force. Times in the past: at once. False: the watching process is no more, so the
  /// group was killed. Only system calls, and also in a child of this process.
  bool arm(pid_t group, Clock::time_point terminate_at, Clock::time_point kill_at) noexcept;
  /// From now on nothing happens. To be called before the group's leader is reaped: afterwards its number may be
  /// somebody else's.
  void disarm() noexcept;

 private:
  struct Orders {
    pid_t group = 0;  // 0: nobody
    Clock::time_point terminate_at;
    Clock::time_point kill_at;
  };
  bool send(const Orders&) noexcept;
  [[noreturn]] static void watch(int orders, int timer) noexcept;

  detail::Descriptor orders_;
  pid_t watcher_ = 0;
};

}  // namespace redlock::tool
