#include "keeper.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "pause.hpp"

namespace redlock::tool {

using std::chrono::milliseconds;

Keeper::Keeper(Lease& lease, Clock::duration ttl, Clock::duration kill_after, DeadlineGuard& guard,
               pid_t group)
    : lease_{lease},
      ttl_{ttl},
      kill_after_{kill_after},
      guard_{guard},
      group_{group},
      terminate_at_{lease.deadline() - kill_after} {
  thread_ = std::jthread{[this](const std::stop_token& stop) { keep(stop); }};
}

void Keeper::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Keeper::keep(const std::stop_token& stop) {
  const Clock::duration again = std::clamp<Clock::duration>(ttl_ / 20, milliseconds{5}, milliseconds{500});
  while (!stop.stop_requested()) {
    detail::pause_until(Clock::now() + (lease_.state() == State::held ? ttl_ / 3 : again), stop);
    if (stop.stop_requested()) return;
    if (!extend()) return;
  }
}

/// Whether it is worth going on.
bool Keeper::extend() {
  std::error_code ec;
  const bool extended = lease_.extend(ec);
  // Once the command was told to end there is no way back, also when this came through at last.
  if (had_given_up(Clock::now())) return false;
  const bool is_gone = lease_.state() == State::lost;
  if (extended && !is_gone) return arm(lease_.deadline() - kill_after_, lease_.deadline());
  if (is_gone) arm(Clock::now(), Clock::now());
  return !is_gone;
}

bool Keeper::arm(Clock::time_point terminate_at, Clock::time_point kill_at) {
  const Clock::time_point now = Clock::now();
  const bool is_watched = guard_.arm(group_, terminate_at, kill_at);
  terminate_at_ = is_watched ? terminate_at : now;
  return is_watched;
}

}  // namespace redlock::tool
