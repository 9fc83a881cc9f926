// Keeping a lease for as long as a command runs.
#pragma once

#include <stop_token>
#include <thread>

#include "deadline_guard.hpp"
#include "redlock/clock.hpp"
#include "redlock/lease.hpp"

namespace redlock::tool {

/// Extends a lease every third of its ttl, and tells the guard how long the lock lasts. When extensions fail it tries
/// again soon, until the time has come at which the guard ends the command; when the lock is gone for certain, the
/// guard ends it at once.
class Keeper {
 public:
  /// The guard has the first times already. `kill_after`: how long before the deadline the command is asked to end.
  Keeper(Lease&, Clock::duration ttl, Clock::duration kill_after, DeadlineGuard&, pid_t group);
  /// The lease is left as it is.
  ~Keeper() = default;

  /// Nothing is extended any more. Blocks while an extension is under way.
  void stop();
  /// Whether by this time the command had been told to end, because its lock could not be kept. After `stop`.
  [[nodiscard]] bool had_given_up(Clock::time_point when) const { return when >= terminate_at_; }

 private:
  void keep(const std::stop_token&);
  [[nodiscard]] bool extend();
  bool arm(Clock::time_point terminate_at, Clock::time_point kill_at);

  Lease& lease_;
  const Clock::duration ttl_;
  const Clock::duration kill_after_;
  DeadlineGuard& guard_;
  const pid_t group_;
  Clock::time_point terminate_at_;
  std::jthread thread_;
};

}  // namespace redlock::tool
