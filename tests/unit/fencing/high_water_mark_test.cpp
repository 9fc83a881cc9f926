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

TEST_CASE("a_token_smaller_than_one_before_is_refused_and_lowers_nothing") {
  HighWaterMark mark;
  CHECK(mark.greatest() == FencingToken{});
  CHECK(mark.admit(token(33)));
  CHECK(mark.admit(token(34)));
  CHECK_FALSE(mark.admit(token(33)));
  CHECK(mark.greatest() == token(34));
  CHECK_FALSE(mark.admit(token(33)));
}

TEST_CASE("the_greatest_token_passes_again_because_it_is_one_holders") {
  HighWaterMark mark;
  CHECK(mark.admit(token(34)));
  CHECK(mark.admit(token(34)));
  CHECK(mark.run(token(34), [] {}));
}

TEST_CASE("no_token_is_refused_also_by_a_mark_that_has_seen_none") {
  HighWaterMark mark;
  bool ran = false;
  CHECK_FALSE(mark.admit(FencingToken{}));
  CHECK_FALSE(mark.run(FencingToken{}, [&] { ran = true; }));
  CHECK_FALSE(ran);
}

TEST_CASE("a_mark_goes_on_from_what_the_store_remembers") {
  HighWaterMark mark{token(34)};
  CHECK(mark.greatest() == token(34));
  CHECK_FALSE(mark.admit(token(33)));
  CHECK(mark.admit(token(34)));
}

TEST_CASE("a_write_runs_once_or_not_at_all_as_the_answer_says") {
  HighWaterMark mark;
  std::vector<int> written;
  CHECK(mark.run(token(34), [&] { written.push_back(34); }));
  CHECK_FALSE(mark.run(token(33), [&] { written.push_back(33); }));
  CHECK(written == std::vector{34});
}

TEST_CASE("a_write_that_throws_has_raised_the_mark_and_hinders_nobody") {
  HighWaterMark mark;
  CHECK_THROWS_AS((void)mark.run(token(34), [] { throw std::runtime_error{"disk full"}; }),
                  std::runtime_error);
  CHECK_FALSE(mark.admit(token(33)));
  CHECK(mark.run(token(34), [] {}));
}

TEST_CASE("a_later_holder_does_not_come_between_the_comparison_and_the_write") {
  constexpr std::uint64_t holders = 8;
  constexpr std::uint64_t holds = 2000;
  HighWaterMark mark;
  std::vector<std::uint64_t> written;  // not atomic: two writes at once are seen by the thread sanitizer
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

TEST_CASE("early_checks_of_many_threads_leave_the_greatest_of_their_tokens") {
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
