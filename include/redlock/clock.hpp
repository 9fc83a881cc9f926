// The clock that validity is counted on.
#pragma once

#include <chrono>

#include "redlock/export.hpp"

namespace redlock {
inline namespace v1 {

/// A monotonic clock that keeps running while the machine is suspended: `CLOCK_BOOTTIME` on Linux,
/// `CLOCK_MONOTONIC` elsewhere. A lease counted on `std::chrono::steady_clock` would survive an hour of sleep
/// in a laptop's lid; the servers' keys would not. Wall time is never used: it jumps.
///
/// Thread safe, never blocks, never fails. Satisfies the standard's *TrivialClock* requirements.
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
