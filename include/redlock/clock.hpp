// The clock that measures validity.
#pragma once

#include <chrono>

#include "redlock/export.hpp"

namespace redlock {
inline namespace v1 {

/// A monotonic clock that keeps running while the machine is suspended: `CLOCK_BOOTTIME`.
///
/// `std::chrono::steady_clock` would be wrong here: it stops during suspend, so a lease would still seem
/// valid after an hour of sleep, while the keys on the servers have expired. Wall-clock time is not used
/// because it can jump.
///
/// Thread safe; never blocks or fails. Meets the standard's *TrivialClock* requirements.
struct REDLOCK_EXPORT Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() noexcept;
};

}  // namespace v1
}  // namespace redlock
