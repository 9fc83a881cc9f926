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
  /// `kill_after`: how long before the deadline the command is asked to end, at most half of the ttl.
  Keeper(Lease&, Clock::duration ttl, Clock::duration kill_after, DeadlineGuard&, pid_t group);
  /// The lease is left as it is.
  ~Keeper() = default;

  /// Nothing is extended any more. Blocks while an extension is under way.
  void stop();
  /// The command has been told to end, because its lock could not be kept. The last word after `stop`.
  [[nodiscard]] bool has_given_up() const;

 private:
  void keep(const std::stop_token&);
  [[nodiscard]] bool extend();
  void arm();

  Lease& lease_;
  const Clock::duration ttl_;
  const Clock::duration kill_after_;
  DeadlineGuard& guard_;
  const pid_t group_;
  Clock::time_point terminate_at_;
  std::jthread thread_;
};

}  // namespace redlock::tool
