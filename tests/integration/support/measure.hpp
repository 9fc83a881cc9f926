// What a call does: how long it takes, and what it throws.
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

/// How much later than promised a call may return. Under a sanitizer every memory access is checked, and the
/// same work takes up to fifteen times as long.
inline constexpr std::chrono::milliseconds slack{sanitized ? 500 : 50};

template <class Call>
[[nodiscard]] Clock::duration time_of(Call&& call) {
  const Clock::time_point before = Clock::now();
  std::forward<Call>(call)();
  return Clock::now() - before;
}

/// The error that a call throws. Another exception, or none, ends the test.
template <class Call>
[[nodiscard]] Error error_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error{"the call was to throw redlock::Error, and threw nothing"};
}

}  // namespace redlock::testing
