// Random waits that grow.
#pragma once

#include <algorithm>
#include <cstdint>

#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::core {

/// Exponential backoff with jitter: each wait lies between half a window and the whole window, which doubles
/// up to a bound. The random number is the caller's: core code has none of its own.
class Backoff {
 public:
  constexpr Backoff(Span first, Span last) noexcept : first_{first}, last_{last}, window_{first} {}

  [[nodiscard]] constexpr Span next(std::uint64_t random) noexcept {
    const auto half = window_.count() / 2;
    const Span wait{half + static_cast<Span::rep>(random % static_cast<std::uint64_t>(half + 1))};
    window_ = std::min(window_ * 2, last_);
    return wait;
  }
  constexpr void reset() noexcept { window_ = first_; }

 private:
  Span first_;
  Span last_;
  Span window_;
};

/// The next of a sequence of numbers that one seed determines (splitmix64, Steele, Lea and Flood 2014): for
/// jitter, where unpredictability does not matter and replay does.
[[nodiscard]] constexpr std::uint64_t next_random(std::uint64_t& state) noexcept {
  std::uint64_t z = state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace redlock::inline v1::core
