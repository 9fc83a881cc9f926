// Exponential backoff with jitter, and the random numbers for it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::core {

/// Each wait is drawn between half a window and the whole window. The window doubles up to a bound. The caller
/// supplies the random number, because core code has no source of randomness.
class Backoff {
 public:
  constexpr Backoff(Span first, Span last) noexcept : first_{first}, last_{last}, window_{first} {}

  [[nodiscard]] constexpr Span next(std::uint64_t random) noexcept {
    const auto half = window_.count() / 2;
    const Span wait{half + static_cast<Span::rep>(random % static_cast<std::uint64_t>(half + 1))};
    window_ = std::min(window_ * 2, last_);
    ++waits_;
    return wait;
  }
  constexpr void reset() noexcept {
    window_ = first_;
    waits_ = 0;
  }
  /// How many waits there were since the last reset.
  [[nodiscard]] constexpr unsigned waits() const noexcept { return waits_; }

 private:
  Span first_;
  Span last_;
  Span window_;
  unsigned waits_ = 0;
};

/// Returns the next number of the sequence that the seed determines (splitmix64; Steele, Lea and Flood 2014). For
/// jitter, which must be reproducible but need not be unpredictable.
[[nodiscard]] constexpr std::uint64_t next_random(std::uint64_t& state) noexcept {
  std::uint64_t z = state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace redlock::inline v1::core
