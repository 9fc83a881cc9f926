// Sets timers on CLOCK_BOOTTIME, the clock that also runs while the machine is suspended.
#pragma once

#include <sys/timerfd.h>

#include <algorithm>
#include <chrono>

#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::detail {

/// Lets a timerfd of CLOCK_BOOTTIME become readable at `when`, or at once if `when` has passed; `never` stops the timer.
/// Makes one system call and nothing else.
inline void set_boot_timer(int timer, core::Time when) noexcept {
  itimerspec spec{};  // all zero: stopped
  if (when != core::never) {
    const auto since_boot = std::max(when.time_since_epoch(), core::Span{1});
    spec.it_value.tv_sec = since_boot / std::chrono::seconds{1};
    spec.it_value.tv_nsec = (since_boot % std::chrono::seconds{1}).count();
  }
  ::timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, nullptr);
}

}  // namespace redlock::inline v1::detail
