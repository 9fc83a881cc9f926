#include "tool/watch/deadline_keeper.hpp"

#include <poll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>

#include "os/boot_timer.hpp"
#include "os/system_error.hpp"
#include "redlock/core/base/early_wake_up.hpp"

namespace redlock::tool {
namespace {

using std::chrono::milliseconds;

detail::Descriptor boot_timer() {
  detail::Descriptor timer{::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC)};
  if (!timer) detail::throw_errno("timerfd_create");
  return timer;
}

}  // namespace

DeadlineKeeper::DeadlineKeeper(const Leases& leases, Clock::duration ttl, Termination& termination,
                               const Watchdog& watchdog)
    : leases_{leases},
      ttl_{ttl},
      check_interval_{std::clamp<Clock::duration>(ttl / 20, milliseconds{1}, milliseconds{500})},
      termination_{termination},
      watchdog_{watchdog},
      timer_{boot_timer()} {
  // Starts watching for a loss now, so that a missing thread or timer throws here.
  for (const Lease& lease : leases_) static_cast<void>(lease.stop_token());
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void DeadlineKeeper::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void DeadlineKeeper::run(const std::stop_token& stop) {
  const std::function<void()> wake_up = [this] { wake_up_.set(); };
  const std::stop_callback when_stopped{stop, wake_up};
  std::deque<std::stop_callback<std::function<void()>>> when_lost;
  for (const Lease& lease : leases_) when_lost.emplace_back(lease.stop_token(), wake_up);
  while (!stop.stop_requested()) {
    update();
    sleep();
  }
}

void DeadlineKeeper::update() {
  if (!has_watchdog_ || !leases_.valid()) return termination_.kill_now();
  termination_.move(kill_time(leases_, ttl_));
  if (termination_.due() <= Clock::now()) termination_.send_due();
}

/// Blocks until it is time to look at the leases again, or until there is something to do before.
void DeadlineKeeper::sleep() {
  const Clock::time_point now = Clock::now();
  detail::set_boot_timer(timer_.get(),
                         std::min(core::next_wake_up(termination_.due(), now), now + check_interval_));
  pollfd polls[] = {
      {wake_up_.fd(), POLLIN, 0}, {timer_.get(), POLLIN, 0}, {has_watchdog_ ? watchdog_.fd() : -1, 0, 0}};
  if (::poll(polls, 3, -1) < 0) return;
  wake_up_.clear();
  if (polls[2].revents != 0) has_watchdog_ = false;
}

}  // namespace redlock::tool
