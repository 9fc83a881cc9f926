#include "redlock/duration.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>

#include "redlock/clock.hpp"
#include "redlock/error.hpp"
#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using redlock::Clock;
using redlock::Duration;

template <class Period>
using Real = std::chrono::duration<double, Period>;
using Seconds = Real<std::ratio<1>>;
using Nanoseconds = Real<std::nano>;

constexpr auto longest = Clock::duration::max();
constexpr auto most_negative = Clock::duration::min();

}  // namespace

TEST_CASE("whole_durations_keep_their_value") {
  static_assert(Duration{} == Duration{0s});
  static_assert(Duration{3s}.get() == 3s);
  CHECK(Duration{-7ms}.get() == -7ms);
  CHECK(Duration{longest}.get() == longest);
  CHECK(Duration{most_negative}.get() == most_negative);
  CHECK(Duration{std::chrono::duration<std::int8_t, std::ratio<3600>>{2}}.get() == 2h);
  CHECK(Duration{std::chrono::duration<unsigned, std::milli>{5}}.get() == 5ms);
  const Clock::duration converted = Duration{1us};
  CHECK(converted == 1us);
}

TEST_CASE("durations_out_of_range_saturate") {
  CHECK(Duration{std::chrono::hours::max()}.get() == longest);
  CHECK(Duration{std::chrono::hours::min()}.get() == most_negative);
  CHECK(Duration{std::chrono::years{1000}}.get() == longest);
  CHECK(Duration{std::chrono::duration<std::uint64_t, std::nano>::max()}.get() == longest);
  CHECK(Duration{Seconds{1e300}}.get() == longest);
  CHECK(Duration{Seconds{-1e300}}.get() == most_negative);
  CHECK(Duration{Seconds{std::numeric_limits<double>::infinity()}}.get() == longest);
  CHECK(Duration{Seconds{-std::numeric_limits<double>::infinity()}}.get() == most_negative);
}

TEST_CASE("fractions_of_a_nanosecond_are_rounded_up") {
  CHECK(Duration{Nanoseconds{0.001}}.get() == 1ns);
  CHECK(Duration{Nanoseconds{1.0}}.get() == 1ns);
  CHECK(Duration{Nanoseconds{-1.5}}.get() == -1ns);
  CHECK(Duration{Seconds{std::numeric_limits<double>::denorm_min()}}.get() == 1ns);
  CHECK(Duration{std::chrono::duration<int, std::pico>{1}}.get() == 1ns);
  CHECK(Duration{std::chrono::duration<int, std::pico>{-1999}}.get() == -1ns);
  CHECK(Duration{Seconds{0.5}}.get() == 500ms);
}

TEST_CASE("units_that_do_not_divide_a_nanosecond_are_rounded_up") {
  using Thirds = std::chrono::duration<std::int64_t, std::ratio<1, 3>>;
  CHECK(Duration{Thirds{3}}.get() == 1s);
  CHECK(Duration{Thirds{1}}.get() == 333333334ns);
  CHECK(Duration{Thirds{-1}}.get() == -333333333ns);
  CHECK(Duration{Thirds::max()}.get() == longest);
}

TEST_CASE("nan_is_refused") {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  try {
    const Duration accepted{Seconds{nan}};
    FAIL("accepted");
  } catch (const redlock::Error& error) {
    CHECK(error.code() == redlock::Errc::invalid_argument);
  }
}

TEST_CASE("durations_are_ordered_as_times") {
  CHECK(Duration{1s} < Duration{1001ms});
  CHECK(Duration{1s} == Duration{1000ms});
}

TEST_CASE("the_clock_is_steady_and_does_not_go_back") {
  static_assert(Clock::is_steady);
  static_assert(std::is_same_v<Clock::time_point::clock, Clock>);
  static_assert(noexcept(Clock::now()));
  auto last = Clock::now();
  CHECK(last.time_since_epoch() > 0ns);
  for (int i = 0; i < 1000; ++i) {
    const auto now = Clock::now();
    REQUIRE(now >= last);
    last = now;
  }
}
