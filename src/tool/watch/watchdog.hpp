// A child process that ends the command at the deadline of its lock.
#pragma once

#include <sys/types.h>

#include "os/descriptor.hpp"
#include "tool/watch/termination.hpp"

namespace redlock::tool {

/// Sends the signals of a `Termination` when they are due, whatever happens to this process.
///
/// A child process that only watches the clock does this, so it also works while this process is stopped,
/// killed or busy. If this process ends without `stop`, the command's process group is killed at once, even
/// if the child process was stopped: the system continues it. Times are measured by a clock that also runs
/// while the machine is suspended. (Rejected alternatives: a timer in this process alone, which does nothing
/// while the process is stopped; PR_SET_PDEATHSIG, which reaches the direct child only.)
///
/// Threads: one call at a time, except that `is_gone` may be called at any time before `stop`. Precondition of
/// all calls: SIGPIPE is blocked or ignored.
class Watchdog {
 public:
  /// Forks; the child makes system calls only, so this process may have other threads. Call it on a thread that lives as
  /// long as the process. Throws `std::system_error`. The termination must outlive this object.
  explicit Watchdog(Termination&);
  /// Calls `stop`.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Makes the child process look at the termination, which it has to do after `Termination::begin`. Later it
  /// looks by itself when a signal would be due. Returns false if the child process is gone. Makes system calls
  /// only and may be called in a child of this process.
  [[nodiscard]] bool wake() const noexcept;
  /// Returns true if the child process has ended.
  [[nodiscard]] bool is_gone() const noexcept;
  /// A descriptor on which poll() reports POLLERR as soon as the child process has ended; -1 after `stop`.
  [[nodiscard]] int fd() const noexcept { return pipe_.get(); }
  /// Kills the child process, and blocks until it is gone. Call it before the group's leader is reaped: after
  /// that, its number may belong to another process group.
  void stop() noexcept;

 private:
  detail::Descriptor pipe_;
  pid_t watcher_ = 0;
};

}  // namespace redlock::tool
