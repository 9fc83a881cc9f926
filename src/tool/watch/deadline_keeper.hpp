// Keeps the time at which the command has to be dead just before the deadline of the leases.
#pragma once

#include <algorithm>
#include <chrono>
#include <stop_token>
#include <thread>

#include "os/descriptor.hpp"
#include "os/wake_event.hpp"
#include "redlock/clock.hpp"
#include "redlock/kinds/leases.hpp"
#include "tool/watch/termination.hpp"
#include "tool/watch/watchdog.hpp"

namespace redlock::tool {

/// When the command has to be dead: a little before the first deadline of its locks, because a busy machine wakes processes late.
[[nodiscard]] inline Clock::time_point kill_time(const Leases& leases, Clock::duration ttl) {
  return leases.deadline() - std::min<Clock::duration>(ttl / 40, std::chrono::milliseconds{50});
}

/// Moves the command's deadline whenever a renewal has moved that of the leases. Ends the command at once if a lock
/// is lost before its deadline, and if the watchdog's process is gone: then nothing would end the command
/// while this process is stopped.
///
/// Also does what the watchdog does when it is due, in case the watchdog's process is stopped. So it takes one
/// of the two processes to end the command in time. Runs a thread of its own, which contacts no node.
class DeadlineKeeper {
 public:
  /// Precondition: `Termination::begin` was called with `kill_time`. All arguments must outlive this
  /// object. Throws `std::system_error` if the system cannot provide a thread or a descriptor.
  DeadlineKeeper(const Leases&, Clock::duration ttl, Termination&, const Watchdog&);
  /// Stops the thread; leaves the leases as they are.
  ~DeadlineKeeper() = default;

  /// Stops the thread. After that it moves no deadline and sends no signal.
  void stop();

 private:
  void run(const std::stop_token&);
  void update();
  void sleep();

  const Leases& leases_;
  const Clock::duration ttl_;
  const Clock::duration check_interval_;
  Termination& termination_;
  const Watchdog& watchdog_;
  const detail::WakeEvent wake_up_;
  const detail::Descriptor timer_;
  bool has_watchdog_ = true;  // used by the thread only
  std::jthread thread_;
};

}  // namespace redlock::tool
