#include "tool/run/deadline_reporter.hpp"

#include <algorithm>
#include <chrono>

namespace redlock::tool {

using std::chrono::milliseconds;

DeadlineReporter::DeadlineReporter(const Lease& lease, Clock::duration ttl, Clock::duration kill_after,
                                   Watchdog& watchdog, pid_t group)
    : lease_{lease},
      check_interval_{std::clamp<Clock::duration>(ttl / 20, milliseconds{1}, milliseconds{500})},
      kill_after_{kill_after},
      watchdog_{watchdog},
      group_{group},
      terminate_at_{lease.deadline() - kill_after} {
  // Starts watching for a loss now, so that a missing thread or timer throws here.
  static_cast<void>(lease_.stop_token());
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void DeadlineReporter::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void DeadlineReporter::run(const std::stop_token& stop) {
  do lease_.wait_lost(check_interval_, stop);
  while (!stop.stop_requested() && update());
}

/// Returns false once there is nothing more to report.
bool DeadlineReporter::update() {
  const Clock::time_point now = Clock::now();
  // After SIGTERM there is no way back, even if a renewal succeeds at last.
  if (termination_began_by(now)) return false;
  if (!lease_.valid()) return arm(now, now);
  const Clock::time_point deadline = lease_.deadline();
  return deadline - kill_after_ == terminate_at_ || arm(deadline - kill_after_, deadline);
}

bool DeadlineReporter::arm(Clock::time_point terminate_at, Clock::time_point kill_at) {
  const Clock::time_point now = Clock::now();
  const bool is_watched = watchdog_.arm(group_, terminate_at, kill_at);
  terminate_at_ = is_watched ? terminate_at : now;
  return is_watched;
}

}  // namespace redlock::tool
