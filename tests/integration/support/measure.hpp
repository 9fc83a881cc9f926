// Measures how long a call takes, and catches what it throws.
#pragma once

#include <chrono>
#include <stdexcept>
#include <utility>

#include "redlock/clock.hpp"
#include "redlock/error.hpp"
#include "support/sanitized.hpp"

namespace redlock::testing {

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
