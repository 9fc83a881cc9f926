// Random numbers of a simulated world. A seed determines the sequence, with every compiler.
#pragma once

#include <cstdint>

#include "redlock/core/base/backoff.hpp"

namespace redlock::simulation {

class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_{seed} {}

  std::uint64_t next() noexcept { return core::next_random(state_); }
  /// From `least` to `most`, both inclusive. The tiny bias of the remainder does not matter here.
  std::int64_t between(std::int64_t least, std::int64_t most) noexcept {
    return least + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(most - least + 1));
  }
  /// Small values often, large ones rarely: divides the range by a random power of two.
  std::int64_t skewed(std::int64_t least, std::int64_t most) noexcept {
    const auto halvings = next() % 8;
    return between(least, least + ((most - least) >> halvings));
  }
  bool chance(int percent) noexcept { return between(1, 100) <= percent; }

 private:
  std::uint64_t state_;
};

}  // namespace redlock::simulation
