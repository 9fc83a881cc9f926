#include "redlock/fencing/high_water_mark.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using redlock::FencingToken;
using redlock::HighWaterMark;

namespace {

constexpr FencingToken token(std::uint64_t value) { return FencingToken{value}; }

}  // namespace

TEST_CASE("a_smaller_token_is_refused_and_does_not_lower_the_mark") {
  HighWaterMark mark;
  CHECK(mark.greatest() == FencingToken{});
  CHECK(mark.admit(token(33)));
  CHECK(mark.admit(token(34)));
  CHECK_FALSE(mark.admit(token(33)));
  CHECK(mark.greatest() == token(34));
  CHECK_FALSE(mark.admit(token(33)));
}

TEST_CASE("the_holder_of_the_greatest_token_is_admitted_again") {
  HighWaterMark mark;
  CHECK(mark.admit(token(34)));
  CHECK(mark.admit(token(34)));
  CHECK(mark.run(token(34), [] {}));
}

TEST_CASE("a_missing_token_is_refused_even_by_a_fresh_mark") {
  HighWaterMark mark;
  bool ran = false;
  CHECK_FALSE(mark.admit(FencingToken{}));
  CHECK_FALSE(mark.run(FencingToken{}, [&] { ran = true; }));
  CHECK_FALSE(ran);
}

TEST_CASE("a_mark_continues_from_the_stored_token") {
  HighWaterMark mark{token(34)};
  CHECK(mark.greatest() == token(34));
  CHECK_FALSE(mark.admit(token(33)));
  CHECK(mark.admit(token(34)));
}

TEST_CASE("a_write_runs_exactly_when_its_token_is_admitted") {
  HighWaterMark mark;
  std::vector<int> written;
  CHECK(mark.run(token(34), [&] { written.push_back(34); }));
  CHECK_FALSE(mark.run(token(33), [&] { written.push_back(33); }));
  CHECK(written == std::vector{34});
}

TEST_CASE("a_write_that_throws_still_raises_the_mark_and_blocks_no_later_write") {
  HighWaterMark mark;
  CHECK_THROWS_AS((void)mark.run(token(34), [] { throw std::runtime_error{"disk full"}; }),
                  std::runtime_error);
  CHECK_FALSE(mark.admit(token(33)));
  CHECK(mark.run(token(34), [] {}));
}

TEST_CASE("no_later_holder_writes_between_the_comparison_and_the_write") {
  constexpr std::uint64_t holders = 8;
  constexpr std::uint64_t holds = 2000;
  HighWaterMark mark;
  std::vector<std::uint64_t> written;  // not atomic, so that the thread sanitizer reports concurrent writes
  std::vector<std::uint64_t> refused(holders);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t holder = 0; holder < holders; ++holder)
      threads.emplace_back([&, holder] {
        for (std::uint64_t hold = 0; hold < holds; ++hold) {
          const std::uint64_t mine = 1 + hold * holders + holder;
          if (!mark.run(token(mine), [&] { written.push_back(mine); })) ++refused[holder];
        }
      });
  }
  CHECK(written.size() + std::accumulate(refused.begin(), refused.end(), std::uint64_t{0}) ==
        holders * holds);
  CHECK(std::is_sorted(written.begin(), written.end()));
  CHECK(mark.greatest() == token(holders * holds));
}

TEST_CASE("concurrent_checks_leave_the_greatest_token_in_the_mark") {
  HighWaterMark mark;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t last = 1000; last < 1008; ++last)
      threads.emplace_back([&mark, last] {
        for (std::uint64_t value = 1; value <= last; ++value) (void)mark.admit(token(value));
      });
  }
  CHECK(mark.greatest() == token(1007));
}
