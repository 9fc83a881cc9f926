#include "tool/run/deadline_reporter.hpp"

#include <algorithm>
#include <chrono>

namespace redlock::tool {

using std::chrono::milliseconds;

DeadlineReporter::DeadlineReporter(const Lease& lease, Clock::duration ttl, Clock::duration kill_after,
                                   Watchdog& guard, pid_t group)
    : lease_{lease},
      between_looks_{std::clamp<Clock::duration>(ttl / 20, milliseconds{1}, milliseconds{500})},
      kill_after_{kill_after},
      guard_{guard},
      group_{group},
      terminate_at_{lease.deadline() - kill_after} {
  static_cast<void>(
      lease_.stop_token());  // losses are told from now on; what that takes is there, or this throws
  thread_ = std::jthread{[this](const std::stop_token& stop) { keep(stop); }};
}

void DeadlineReporter::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void DeadlineReporter::keep(const std::stop_token& stop) {
  do lease_.wait_lost(between_looks_, stop);
  while (!stop.stop_requested() && look());
}

/// Whether it is worth going on.
bool DeadlineReporter::look() {
  const Clock::time_point now = Clock::now();
  // Once the command was told to end there is no way back, also when a renewal came through at last.
  if (had_given_up(now)) return false;
  if (!lease_.valid()) return arm(now, now);
  const Clock::time_point deadline = lease_.deadline();
  return deadline - kill_after_ == terminate_at_ || arm(deadline - kill_after_, deadline);
}

bool DeadlineReporter::arm(Clock::time_point terminate_at, Clock::time_point kill_at) {
  const Clock::time_point now = Clock::now();
  const bool is_watched = guard_.arm(group_, terminate_at, kill_at);
  terminate_at_ = is_watched ? terminate_at : now;
  return is_watched;
}

}  // namespace redlock::tool
