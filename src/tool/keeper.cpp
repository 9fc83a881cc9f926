#include "keeper.hpp"

#include <algorithm>
#include <system_error>

#include "pause.hpp"

namespace redlock::tool {

using std::chrono::milliseconds;

Keeper::Keeper(Lease& lease, Clock::duration ttl, Clock::duration kill_after, DeadlineGuard& guard,
               pid_t group)
    : lease_{lease}, ttl_{ttl}, kill_after_{std::min(kill_after, ttl / 2)}, guard_{guard}, group_{group} {
  arm();
  thread_ = std::jthread{[this](const std::stop_token& stop) { keep(stop); }};
}

void Keeper::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

bool Keeper::has_given_up() const { return Clock::now() >= terminate_at_; }

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
  if (has_given_up()) return false;
  if (extended) arm();
  if (lease_.state() != State::lost) return true;
  terminate_at_ = Clock::now();
  guard_.arm(group_, terminate_at_, terminate_at_);
  return false;
}

void Keeper::arm() {
  terminate_at_ = lease_.deadline() - kill_after_;
  guard_.arm(group_, terminate_at_, lease_.deadline());
}

}  // namespace redlock::tool
