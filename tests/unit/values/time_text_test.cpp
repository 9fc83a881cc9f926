#include "values/time_text.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

#include "support/catch.hpp"

using namespace std::chrono_literals;
using redlock::detail::parse_time;

TEST_CASE("a_time_is_a_number_of_seconds_or_has_a_unit") {
  CHECK(parse_time("500ms") == 500ms);
  CHECK(parse_time("30s") == 30s);
  CHECK(parse_time("2m") == 2min);
  CHECK(parse_time("1.5h") == 90min);
  CHECK(parse_time("0.5ms") == 500us);
  for (int count = 1; count < 100; ++count) CHECK(parse_time(std::to_string(count) + "ms") == count * 1ms);
  CHECK(parse_time("0s") == 0s);
  CHECK(parse_time("60") == 60s);
  CHECK(parse_time("0.25") == 250ms);
  CHECK(parse_time("0") == 0s);
  CHECK(parse_time(".5") == 500ms);
  CHECK(parse_time("5.") == 5s);
  CHECK(parse_time("0.1") == 100ms);
  CHECK(parse_time("1.0000000001s") == 1s + 1ns);
  CHECK(parse_time("0." + std::string(400, '3') + "h") == 20min);
  CHECK(parse_time("365.000" + std::string(400, '0')) == 365s);
  for (const char* const bad :
       {"",     "s",    "-1s",       "-1",   "1 s",  "1S",  "1d", "1s1",   "nan", "nans",
        "infs", "1e3s", "99999999h", "0x1s", "soon", "1,5", ".",  "1.2.3", "1..", ".s"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_time(bad), std::invalid_argument);
  }
  CHECK_THROWS_AS(parse_time(std::string(400, '9')), std::invalid_argument);
}
