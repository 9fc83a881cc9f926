// The type of all durations in options and calls.
#pragma once

#include <chrono>
#include <cmath>
#include <limits>
#include <ratio>
#include <type_traits>

#include "redlock/clock.hpp"
#include "redlock/export.hpp"

namespace redlock {
inline namespace v1 {

/// A duration in nanoseconds, converted from any `std::chrono::duration`.
///
/// Values that do not fit saturate, so `std::chrono::hours::max()` means a very long time. Fractions of a
/// nanosecond are rounded up, so a positive duration never becomes zero. NaN throws `Error` with
/// `Errc::invalid_argument`.
class Duration {
 public:
  constexpr Duration() noexcept = default;

  template <class Rep, class Period>
  constexpr Duration(std::chrono::duration<Rep, Period> from) : value_{convert(from)} {}  // NOLINT: implicit

  constexpr operator Clock::duration() const noexcept { return value_; }  // NOLINT: implicit
  [[nodiscard]] constexpr Clock::duration get() const noexcept { return value_; }

  friend constexpr bool operator==(Duration, Duration) noexcept = default;
  friend constexpr auto operator<=>(Duration, Duration) noexcept = default;

 private:
  template <class Rep, class Period>
  static constexpr Clock::duration convert(std::chrono::duration<Rep, Period> from) {
    using Limits = std::numeric_limits<Clock::rep>;
    // Compare in floating point, the only type in which no duration overflows.
    const auto approximate =
        std::chrono::duration<long double, Clock::period>(
            std::chrono::duration<long double, Period>(static_cast<long double>(from.count())))
            .count();
    if (approximate != approximate) refuse_nan();
    if (approximate >= static_cast<long double>(Limits::max())) return Clock::duration::max();
    if (approximate <= static_cast<long double>(Limits::min())) return Clock::duration::min();
    constexpr bool whole = std::ratio_divide<Period, Clock::period>::den == 1;
    if constexpr (std::is_floating_point_v<Rep> || !whole) {
      const auto truncated = static_cast<Clock::rep>(approximate);
      return Clock::duration{truncated + (static_cast<long double>(truncated) < approximate ? 1 : 0)};
    } else {
      return std::chrono::ceil<Clock::duration>(from);
    }
  }
  [[noreturn]] REDLOCK_EXPORT static void refuse_nan();

  Clock::duration value_{0};
};

namespace detail {

/// Saturates: the deadline may be as far away as its type allows, and `now` may be negative.
[[nodiscard]] constexpr Duration time_left(Duration deadline, Duration now) {
  using Nanoseconds = std::chrono::duration<long double, std::nano>;
  return deadline <= now ? Duration{} : Duration{Nanoseconds{deadline.get()} - Nanoseconds{now.get()}};
}

}  // namespace detail

}  // namespace v1
}  // namespace redlock
