// How to be in time on a busy machine.
#pragma once

#include <algorithm>

#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::core {

/// Who has to be in time looks up so long before it, and from then on so often.
inline constexpr Span early_wake_ups_begin = std::chrono::milliseconds{20};
inline constexpr Span early_wake_up_step = std::chrono::milliseconds{2};

/// When a thread that has to run at `due` looks up next.
///
/// Where all processors are busy, who sleeps until `due` runs when the scheduler comes round to it, some time slices
/// later. But a fair scheduler owes a thread the time that it had to wait (the *lag* of Stoica and Abdel-Wahab, "Earliest
/// Eligible Virtual Deadline First", 1995, which Linux follows since 6.6). Who looks up a few times before has done its
/// waiting by then, and is the first in line at `due`.
[[nodiscard]] constexpr Time next_wake_up(Time due, Time now) noexcept {
  if (due == never) return never;
  if (due > now + early_wake_ups_begin) return due - early_wake_ups_begin;
  return std::min(due, now + early_wake_up_step);
}

}  // namespace redlock::inline v1::core
