// Times for people.
#include "tool/time_text.hpp"

#include <chrono>

#include "support/catch.hpp"

using namespace std::chrono_literals;
using namespace redlock::tool;

TEST_CASE("times_are_rounded_for_people") {
  CHECK(readable(0ms) == "0 ms");
  CHECK(readable(999ms) == "999 ms");
  CHECK(readable(1000ms) == "1.0 s");
  CHECK(readable(29'460ms) == "29.4 s");
  CHECK(readable(59'999ms) == "59.9 s");
  CHECK(readable(200s) == "3 min 20 s");
}
