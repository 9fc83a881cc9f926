// A clock that runs too fast or too slowly, and that may be set.
#pragma once

#include <cstdint>

#include "simulation/judge/history.hpp"

namespace redlock::simulation {

/// The clock of one machine as a function of the world's time.
class SkewedClock {
 public:
  explicit SkewedClock(Instant start = 0, std::int64_t ppm = 0) noexcept : shown_{start}, ppm_{ppm} {}

  [[nodiscard]] Instant at(Instant instant) const noexcept {
    const Instant passed = instant - since_;
    return shown_ + passed + passed * ppm_ / million;
  }
  /// The first instant at which the clock shows this time.
  [[nodiscard]] Instant when(Instant shown) const noexcept {
    if (shown <= shown_) return since_;
    if (shown - shown_ > horizon) return since_ + 2 * horizon;
    Instant instant = since_ + (shown - shown_) * million / (million + ppm_);
    while (at(instant) < shown) ++instant;
    while (at(instant - 1) >= shown) --instant;
    return instant;
  }
  void set_rate(Instant now, std::int64_t ppm) noexcept {
    shown_ = at(now);
    since_ = now;
    ppm_ = ppm;
  }
  void jump(Instant by) noexcept { shown_ += by; }

 private:
  static constexpr std::int64_t million = 1'000'000;
  static constexpr Instant horizon = 1'000 * std::int64_t{1'000'000'000};

  Instant since_ = 0;
  Instant shown_;
  std::int64_t ppm_;  // rate error in millionths; positive: too fast
};

}  // namespace redlock::simulation
