#include "redlock/fencing/high_water_mark.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
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

TEST_CASE("a_read_is_compared_with_writes_but_not_with_other_reads") {
  HighWaterMark mark;
  int reads = 0;
  const auto read = [&] { ++reads; };
  CHECK(mark.run_shared(token(36), read));
  CHECK(mark.run_shared(token(35), read));  // another reader of the same period
  CHECK(mark.run(token(37), [] {}));
  CHECK_FALSE(mark.run_shared(token(36), read));
  CHECK(reads == 2);
  CHECK(mark.run_shared(token(37), read));  // the writer itself
  CHECK(mark.run_shared(token(38), read));
  CHECK(reads == 4);
}

TEST_CASE("a_writer_that_is_late_is_refused_once_a_later_reader_has_read") {
  HighWaterMark mark;
  bool written = false;
  CHECK(mark.run(token(33), [] {}));
  CHECK(mark.run_shared(token(35), [] {}));
  CHECK(mark.run_shared(token(34), [] {}));  // does not lower the mark
  CHECK_FALSE(mark.run(token(34), [&] { written = true; }));
  CHECK_FALSE(mark.admit(token(34)));
  CHECK_FALSE(written);
  CHECK(mark.admit(token(35)));
}

TEST_CASE("a_read_without_a_token_is_refused") {
  HighWaterMark mark;
  bool ran = false;
  CHECK_FALSE(mark.run_shared(FencingToken{}, [&] { ran = true; }));
  CHECK_FALSE(ran);
}

TEST_CASE("the_greatest_token_is_that_of_reads_and_writes") {
  HighWaterMark mark;
  CHECK(mark.run(token(33), [] {}));
  CHECK(mark.greatest() == token(33));
  CHECK(mark.run_shared(token(34), [] {}));
  CHECK(mark.greatest() == token(34));
  CHECK_FALSE(mark.run_shared(token(32), [] {}));
  CHECK(mark.greatest() == token(34));
  CHECK(mark.run(token(35), [] {}));
  CHECK(mark.greatest() == token(35));
}

TEST_CASE("a_mark_that_continues_from_a_token_compares_reads_and_writes_with_it") {
  HighWaterMark mark{token(34)};
  CHECK_FALSE(mark.run_shared(token(33), [] {}));
  CHECK_FALSE(mark.run(token(33), [] {}));
  CHECK(mark.run_shared(token(34), [] {}));
  CHECK(mark.run(token(34), [] {}));
}

TEST_CASE("a_read_that_throws_still_raises_the_mark_and_blocks_no_later_call") {
  HighWaterMark mark;
  CHECK_THROWS_AS((void)mark.run_shared(token(34), [] { throw std::runtime_error{"disk failure"}; }),
                  std::runtime_error);
  CHECK_FALSE(mark.run(token(33), [] {}));
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

TEST_CASE("reads_run_beside_each_other") {
  HighWaterMark mark;
  std::barrier both{2};  // nobody passes it alone
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t reader = 0; reader < 2; ++reader)
      threads.emplace_back([&, reader] {
        if (!mark.run_shared(token(34 + reader), [&] { both.arrive_and_wait(); })) both.arrive_and_drop();
      });
  }
  CHECK(mark.greatest() == token(35));
}

TEST_CASE("no_read_runs_beside_a_write_and_none_sees_a_write_of_a_later_holder") {
  constexpr std::uint64_t threads_of_each_kind = 4;
  constexpr std::uint64_t last = 2000;
  HighWaterMark mark;
  std::uint64_t written = 0;  // not atomic, so that the thread sanitizer reports reads beside a write
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t thread = 0; thread < threads_of_each_kind; ++thread) {
      threads.emplace_back([&] {  // even tokens write, odd ones read
        for (std::uint64_t mine = 2; mine <= last; mine += 2)
          (void)mark.run(token(mine), [&] { written = mine; });
      });
      threads.emplace_back([&] {
        for (std::uint64_t mine = 1; mine <= last; mine += 2)
          (void)mark.run_shared(token(mine), [&] { wrong += written > mine ? 1 : 0; });
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(mark.greatest() == token(last));
}

TEST_CASE("concurrent_reads_leave_the_greatest_token_in_the_mark_of_reads") {
  HighWaterMark mark;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t greatest = 1000; greatest < 1008; ++greatest)
      threads.emplace_back([&mark, greatest] {
        for (std::uint64_t value = 1; value <= greatest; ++value) (void)mark.run_shared(token(value), [] {});
      });
  }
  CHECK_FALSE(mark.admit(token(1006)));
  CHECK(mark.admit(token(1007)));
}
