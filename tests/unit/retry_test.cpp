// When a waiting call tries again.
#include "redlock/core/retry.hpp"

#include <cstdint>

#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock;
using namespace redlock::core;

constexpr Time start{1h};

/// Three nodes, held for so long each.
Tally held_for(std::chrono::milliseconds first, std::chrono::milliseconds second,
               std::chrono::milliseconds third) {
  Tally tally{3};
  for (NodeIndex node = 0; node < 3; ++node) tally.mark(node, Tally::Mark::no);
  tally[0].ttl = first;
  tally[1].ttl = second;
  tally[2].ttl = third;
  return tally;
}

}  // namespace

TEST_CASE("pauses_grow_to_a_bound_and_are_never_the_same_for_all", "[retry]") {
  const Tally unknown{3};
  for (const std::uint64_t random : {std::uint64_t{0}, std::uint64_t{123456789}, ~std::uint64_t{0}}) {
    Retry retry{never};
    Span window = 10ms;
    for (int attempt = 0; attempt < 12; ++attempt) {
      const auto next = retry.after(Errc::no_quorum, unknown, start, start, random);
      REQUIRE(next);
      CHECK(*next - start >= window / 2);
      CHECK(*next - start <= window);
      window = std::min<Span>(2 * window, 400ms);
    }
  }
  Retry one{never};
  Retry other{never};
  CHECK(one.after(Errc::held, unknown, start, start, 1) != other.after(Errc::held, unknown, start, start, 2));
}

TEST_CASE("nobody_sleeps_longer_than_the_holders_copies_live", "[retry]") {
  Retry retry{never};
  const Tally tally = held_for(20ms, 5ms, 500ms);  // a majority is free when the second of three is
  for (int attempt = 0; attempt < 10; ++attempt) {
    const auto next = retry.after(Errc::held, tally, start, start, ~std::uint64_t{0});
    REQUIRE(next);
    CHECK(*next - start <= 20ms + 10ms);
  }
}

TEST_CASE("a_majority_is_free_when_enough_copies_have_expired", "[retry]") {
  CHECK(majority_free_in(held_for(1ms, 2ms, 3ms)) == Span{2ms});
  CHECK(majority_free_in(held_for(3ms, 1ms, 2ms)) == Span{2ms});

  Tally with_grant = held_for(7ms, 8ms, 9ms);
  with_grant.mark(1, Tally::Mark::yes);  // given back: free now
  CHECK(majority_free_in(with_grant) == Span{7ms});

  Tally with_dead = held_for(7ms, 8ms, 9ms);
  with_dead.mark(0, Tally::Mark::unknown);
  CHECK(majority_free_in(with_dead) == Span{9ms});
  with_dead.mark(1, Tally::Mark::unknown);
  CHECK_FALSE(majority_free_in(with_dead));
}

TEST_CASE("the_last_attempt_comes_early_enough_to_be_heard", "[retry]") {
  const Tally unknown{3};
  Retry retry{start + 100ms};
  // An attempt took 5 ms, so the last one begins 10 ms before the end, although the pause would be longer.
  const auto next = retry.after(Errc::no_quorum, unknown, start + 80ms, start + 85ms, ~std::uint64_t{0});
  REQUIRE(next);
  CHECK((*next == start + 90ms));
  CHECK_FALSE(retry.over(*next));
  // Too late for another: the call sleeps until its end, and there is none.
  const auto end = retry.after(Errc::no_quorum, unknown, start + 75ms, start + 90ms, 0);
  REQUIRE(end);
  CHECK((*end == start + 100ms));
  CHECK(retry.over(*end));
  CHECK_FALSE(retry.after(Errc::no_quorum, unknown, start + 90ms, start + 100ms, 0));
}

TEST_CASE("what_no_retry_mends_ends_the_call", "[retry]") {
  const Tally unknown{3};
  Retry retry{never};
  CHECK_FALSE(retry.after(Errc::misconfigured, unknown, start, start, 0));
  CHECK_FALSE(retry.after(Errc::cancelled, unknown, start, start, 0));
  CHECK(retry.after(Errc::too_slow, unknown, start, start, 0));
  CHECK_FALSE(retry.over(never - 1h));
}
