// A sleep that a stop request interrupts.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "redlock/clock.hpp"

namespace redlock::inline v1::detail {

/// Blocks until `until` or until a stop request.
inline void pause_until(Clock::time_point until, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never_notified;
  std::unique_lock lock{mutex};
  const auto left = until - Clock::now();
  if (left > Clock::duration::zero()) never_notified.wait_for(lock, stop, left, [] { return false; });
}

}  // namespace redlock::inline v1::detail
