// Points in time and durations of the core, which is always passed the time and never reads a clock.
#pragma once

#include <chrono>
#include <string>

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

/// What validity leaves out for clocks that run at different rates, if the options do not say otherwise.
[[nodiscard]] constexpr Span default_drift(Span ttl) noexcept {
  return ttl / 100 + std::chrono::milliseconds{2};
}

/// The longest time that is believed when a server names one.
inline constexpr std::chrono::hours longest_believed{24 * 3650};

/// As a span; saturates. A server may name more milliseconds than fit.
[[nodiscard]] constexpr Span span_of(std::chrono::milliseconds time) noexcept {
  using std::chrono::floor, std::chrono::milliseconds;
  return time > floor<milliseconds>(Span::max()) ? Span::max() : Span{time};
}

/// A time for people, in seconds or, if it is short, milliseconds.
[[nodiscard]] inline std::string readable(std::chrono::milliseconds time) {
  if (time < std::chrono::seconds{1}) return std::to_string(time.count()) + " ms";
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace redlock::inline v1::core
