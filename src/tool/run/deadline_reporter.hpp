// The guard of a command's deadline, kept up to date.
#pragma once

#include <stop_token>
#include <thread>

#include "redlock/clock.hpp"
#include "redlock/lease.hpp"
#include "tool/run/watchdog.hpp"

namespace redlock::tool {

/// Tells the guard how long the lock lasts, as often as the lease, which renews itself, has moved its deadline. When the
/// lock is gone before that, the guard ends the command at once.
class DeadlineReporter {
 public:
  /// The guard has the first times already. `kill_after`: how long before the deadline the command is asked to end.
  /// Throws std::system_error when the system has no thread for it.
  DeadlineReporter(const Lease&, Clock::duration ttl, Clock::duration kill_after, Watchdog&, pid_t group);
  /// The lease is left as it is.
  ~DeadlineReporter() = default;

  /// The guard is left as it is from now on.
  void stop();
  /// Whether by this time the command had been told to end, because its lock could not be kept. After `stop`.
  [[nodiscard]] bool had_given_up(Clock::time_point when) const { return when >= terminate_at_; }

 private:
  void keep(const std::stop_token&);
  [[nodiscard]] bool look();
  bool arm(Clock::time_point terminate_at, Clock::time_point kill_at);

  const Lease& lease_;
  const Clock::duration between_looks_;
  const Clock::duration kill_after_;
  Watchdog& guard_;
  const pid_t group_;
  Clock::time_point terminate_at_;
  std::jthread thread_;
};

}  // namespace redlock::tool
