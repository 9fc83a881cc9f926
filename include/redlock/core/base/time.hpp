// Points in time and durations of the core, which is always passed the time and never reads a clock.
#pragma once

#include "redlock/clock.hpp"

namespace redlock::inline v1::core {

using Time = Clock::time_point;
using Span = Clock::duration;

/// A time that is never reached: the value of a timer that is not set.
inline constexpr Time never = Time::max();

/// `from + span`, or `never` if that overflows.
[[nodiscard]] constexpr Time later(Time from, Span span) noexcept {
  return span > Span::zero() && from > never - span ? never : from + span;
}

}  // namespace redlock::inline v1::core
