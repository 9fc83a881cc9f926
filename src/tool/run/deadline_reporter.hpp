// Passes renewed deadlines to the watchdog.
#pragma once

#include <stop_token>
#include <thread>

#include "redlock/clock.hpp"
#include "redlock/lease.hpp"
#include "tool/run/watchdog.hpp"

namespace redlock::tool {

/// Passes the lease's deadline to the watchdog whenever a renewal has moved it. If the lock is lost before
/// its deadline, makes the watchdog end the command at once. Runs a thread of its own.
class DeadlineReporter {
 public:
  /// Precondition: the watchdog knows the current deadline. `kill_after`: how long before the deadline the
  /// command gets SIGTERM. Throws `std::system_error` if the system cannot provide a thread.
  DeadlineReporter(const Lease&, Clock::duration ttl, Clock::duration kill_after, Watchdog&, pid_t group);
  /// Stops the thread; leaves the lease as it is.
  ~DeadlineReporter() = default;

  /// Stops the thread. After that the watchdog gets no more deadlines.
  void stop();
  /// Returns true if by `when` the command had got SIGTERM because its lock could not be kept. Call after
  /// `stop`.
  [[nodiscard]] bool termination_began_by(Clock::time_point when) const { return when >= terminate_at_; }

 private:
  void run(const std::stop_token&);
  [[nodiscard]] bool update();
  bool arm(Clock::time_point terminate_at, Clock::time_point kill_at);

  const Lease& lease_;
  const Clock::duration check_interval_;
  const Clock::duration kill_after_;
  Watchdog& watchdog_;
  const pid_t group_;
  Clock::time_point terminate_at_;
  std::jthread thread_;
};

}  // namespace redlock::tool
