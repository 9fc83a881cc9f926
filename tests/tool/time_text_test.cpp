// Parsing and formatting of times.
#include "tool/time_text.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

#include "support/catch.hpp"

using namespace std::chrono_literals;
using namespace redlock::tool;

TEST_CASE("times_have_a_number_and_a_unit") {
  CHECK(parse_time("500ms") == 500ms);
  CHECK(parse_time("30s") == 30s);
  CHECK(parse_time("2m") == 2min);
  CHECK(parse_time("1.5h") == 90min);
  CHECK(parse_time("0.5ms") == 500us);
  CHECK(parse_time("0s") == 0s);
  for (const char* const bad :
       {"", "5", "s", "-1s", "1 s", "1S", "1d", "1s1", "nan", "nans", "infs", "1e3s", "99999999h", "0x1s"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_time(bad), std::invalid_argument);
  }
}

TEST_CASE("bare_numbers_are_seconds_where_flock_accepts_them") {
  CHECK(parse_seconds("60") == 60s);
  CHECK(parse_seconds("0.25") == 250ms);
  CHECK(parse_seconds("0") == 0s);
  CHECK(parse_seconds("250ms") == 250ms);
  for (const char* const bad : {"", "-1", "soon", "1,5"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_seconds(bad), std::invalid_argument);
  }
}

TEST_CASE("times_are_rounded_for_people") {
  CHECK(readable(0ms) == "0 ms");
  CHECK(readable(999ms) == "999 ms");
  CHECK(readable(1000ms) == "1.0 s");
  CHECK(readable(29'460ms) == "29.4 s");
  CHECK(readable(59'999ms) == "59.9 s");
  CHECK(readable(200s) == "3 min 20 s");
}
