// Time as core code sees it: always an argument, never asked for.
#pragma once

#include "redlock/clock.hpp"

namespace redlock::inline v1::core {

using Time = Clock::time_point;
using Span = Clock::duration;

/// A time that never comes: the timer of who waits for nothing.
inline constexpr Time never = Time::max();

/// `from + span`, or `never` where that does not fit.
[[nodiscard]] constexpr Time later(Time from, Span span) noexcept {
  return span > Span::zero() && from > never - span ? never : from + span;
}

}  // namespace redlock::inline v1::core
