#include "simulation/clock/skewed_clock.hpp"

#include "simulation/scenario/schedule.hpp"
#include "support/catch.hpp"

using redlock::simulation::Instant;
using redlock::simulation::second;
using redlock::simulation::SkewedClock;

TEST_CASE("a_fast_clock_gains_its_rate_in_millionths") {
  CHECK(SkewedClock{0, 4'000}.at(second) == second + 4'000'000);
  CHECK(SkewedClock{7, -4'000}.at(second) == 7 + second - 4'000'000);
}

TEST_CASE("when_returns_the_first_instant_at_which_a_clock_shows_a_time") {
  for (const std::int64_t ppm : {0, 1, -1, 4'000, -4'000, 300'000, -300'000}) {
    const SkewedClock clock{100, ppm};
    for (const Instant shown : {Instant{101}, Instant{12'345'678}, 3 * second}) {
      CAPTURE(ppm, shown);
      CHECK(clock.at(clock.when(shown)) >= shown);
      CHECK(clock.at(clock.when(shown) - 1) < shown);
    }
  }
}

TEST_CASE("a_rate_change_does_not_move_the_clock") {
  SkewedClock clock{0, 100'000};
  const Instant before = clock.at(second);
  clock.set_rate(second, 0);
  CHECK(clock.at(second) == before);
  CHECK(clock.at(2 * second) == before + second);
  clock.jump(-5 * second);
  CHECK(clock.at(2 * second) == before - 4 * second);
}
