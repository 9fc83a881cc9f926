// Measures how long a call takes, and catches what it throws.
#pragma once

#include <chrono>
#include <stdexcept>
#include <utility>

#include "redlock/clock.hpp"
#include "redlock/error.hpp"

namespace redlock::testing {

inline constexpr bool sanitized =
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    true;
#elif defined(__has_feature)
    __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
    false;
#endif

/// Tolerance for the time of a call. Under a sanitizer the same work takes up to fifteen times as long.
inline constexpr std::chrono::milliseconds slack{sanitized ? 500 : 50};

template <class Call>
[[nodiscard]] Clock::duration time_of(Call&& call) {
  const Clock::time_point before = Clock::now();
  std::forward<Call>(call)();
  return Clock::now() - before;
}

/// The error that a call throws. The test fails if it throws another exception or none.
template <class Call>
[[nodiscard]] Error error_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error{"the call threw nothing instead of redlock::Error"};
}

}  // namespace redlock::testing
