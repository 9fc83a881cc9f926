// Wake-up times for a thread that must run punctually on a busy machine.
#pragma once

#include <algorithm>

#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::core {

/// How long before the due time the early wake-ups begin.
inline constexpr Span early_wake_ups_begin = std::chrono::milliseconds{20};
/// The time between two early wake-ups.
inline constexpr Span early_wake_up_step = std::chrono::milliseconds{2};

/// When a thread that has to run at `due` should wake up next.
///
/// If all processors are busy, a thread that sleeps until `due` runs some time slices late, when the scheduler gets to
/// it. But a fair scheduler credits a thread with the time that it had to wait (the *lag* of Stoica and Abdel-Wahab,
/// "Earliest Eligible Virtual Deadline First", 1995, which Linux implements since 6.6). A thread that wakes up a few
/// times beforehand does that waiting before `due`, and is scheduled first at `due`.
[[nodiscard]] constexpr Time next_wake_up(Time due, Time now) noexcept {
  if (due == never) return never;
  if (due > now + early_wake_ups_begin) return due - early_wake_ups_begin;
  return std::min(due, now + early_wake_up_step);
}

}  // namespace redlock::inline v1::core
