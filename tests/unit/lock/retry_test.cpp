#include "redlock/core/lock/retry.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;
using Mark = Tally::Mark;

constexpr Errc retried[] = {Errc::held, Errc::no_quorum, Errc::too_slow};

Tally denied_for(std::optional<std::chrono::milliseconds> ttl) {
  Tally tally{1};
  tally.mark(0, Mark::no);
  if (ttl) tally[0].ttl = redlock::core::span_of(*ttl);  // as votes are read
  return tally;
}

/// When a majority could grant: the first of these times at which a majority of the nodes is free.
std::optional<Span> plainly_free_in(const Tally& tally) {
  for (const Span moment : {Span{0ms}, Span{100ms}, Span{200ms}, Span{300ms}}) {
    std::size_t free = 0;
    for (NodeIndex node = 0; node < tally.nodes(); ++node)
      free += tally.is(node, Mark::yes) || (tally[node].ttl && *tally[node].ttl <= moment) ? 1 : 0;
    if (2 * free > tally.nodes()) return moment;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("a_majority_is_free_when_enough_of_the_holders_copies_have_expired") {
  // The vote of a node: granted; denied for 100, 200 or 300 ms or for an unknown time; no vote.
  constexpr std::size_t fates = 6;
  for (std::size_t nodes : {1U, 2U, 3U, 5U}) {
    std::size_t vectors = 1;
    for (std::size_t i = 0; i < nodes; ++i) vectors *= fates;
    for (std::size_t vector = 0; vector < vectors; ++vector) {
      Tally tally{nodes};
      for (std::size_t node = 0, rest = vector; node < nodes; ++node, rest /= fates) {
        const std::size_t fate = rest % fates;
        tally.mark(node, fate == 0 ? Mark::yes : fate == 5 ? Mark::unknown : Mark::no);
        if (fate >= 1 && fate <= 3) tally[node].ttl = std::chrono::milliseconds{100 * fate};
      }
      if (majority_free_in(tally) != plainly_free_in(tally))
        FAIL("wrong about vector " << vector << " of " << nodes);
    }
  }
}

TEST_CASE("pauses_grow_to_a_bound_and_are_jittered_over_half_of_it") {
  for (const Errc why : retried)
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
      Retry retry{never};
      std::uint64_t random = seed;
      Span window = 10ms;
      for (int attempt = 0; attempt < 12; ++attempt) {
        const auto next = retry.after(why, denied_for(std::nullopt), at(0ms), at(5ms), next_random(random));
        REQUIRE(next);
        CHECK(*next >= at(5ms) + window / 2);
        CHECK(*next <= at(5ms) + window);
        window = std::min<Span>(2 * window, 400ms);
      }
    }
}

TEST_CASE("contenders_with_different_random_numbers_pause_differently") {
  std::vector<Time> times;
  std::uint64_t random = 7;
  for (int i = 0; i < 64; ++i)
    times.push_back(Retry{never}
                        .after(Errc::held, denied_for(std::nullopt), at(0ms), at(1ms), next_random(random))
                        .value_or(never));
  std::sort(times.begin(), times.end());
  CHECK(std::unique(times.begin(), times.end()) == times.end());
  CHECK(times.back() - times.front() > 3ms);
}

TEST_CASE("no_pause_exceeds_the_holders_remaining_ttl_by_more_than_10_ms") {
  Retry retry{never};
  std::uint64_t random = 1;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto next = retry.after(Errc::held, denied_for(20ms), at(0ms), at(5ms), next_random(random));
    REQUIRE(next);
    CHECK(*next <= at(35ms));
    if (attempt > 8) CHECK(*next >= at(26ms));
  }
}

TEST_CASE("a_ttl_of_centuries_does_not_overflow_into_a_short_pause") {
  // In nanoseconds these ttls overflow, overflow with jitter added, or wrap around to half a millisecond.
  for (const auto ttl :
       {std::chrono::milliseconds::max(), 9'223'372'036'855ms, 9'223'372'036'854ms, 18'446'744'073'710ms}) {
    CAPTURE(ttl.count());
    Retry retry{never};
    for (int attempt = 0; attempt < 10; ++attempt)
      (void)retry.after(Errc::held, denied_for(ttl), at(0ms), at(1ms), 0);
    const auto next = retry.after(Errc::held, denied_for(ttl), at(0ms), at(1ms), 0);
    REQUIRE(next);
    CHECK(*next == at(201ms));
  }
}

TEST_CASE("the_holders_ttl_shortens_no_pause_after_another_failure_or_when_it_has_passed") {
  for (const auto& [why, ttl] : {std::pair{Errc::no_quorum, 1ms}, {Errc::too_slow, 1ms}, {Errc::held, 0ms}}) {
    Retry retry{never};
    for (int attempt = 0; attempt < 10; ++attempt)
      (void)retry.after(why, denied_for(ttl), at(0ms), at(1ms), 0);
    const auto next = retry.after(why, denied_for(ttl), at(0ms), at(1ms), 0);
    REQUIRE(next);
    CHECK(*next == at(201ms));
  }
}

TEST_CASE("misconfiguration_cancellation_and_the_deadline_end_the_retries") {
  CHECK_FALSE(Retry{never}.after(Errc::misconfigured, Tally{1}, at(0ms), at(1ms), 0));
  CHECK_FALSE(Retry{never}.after(Errc::cancelled, Tally{1}, at(0ms), at(1ms), 0));
  for (const Errc why : retried) {
    CHECK_FALSE(Retry{at(1ms)}.after(why, Tally{1}, at(0ms), at(1ms), 0));
    CHECK(Retry{at(1s)}.after(why, Tally{1}, at(0ms), at(1ms), 0));
  }
}

TEST_CASE("the_last_attempt_leaves_enough_time_for_its_replies") {
  // An attempt takes 3 ms, so the last retry is at least 6 ms, twice that time, before the end.
  for (Span left = 1ms; left < 60ms; left += 1ms) {
    CAPTURE(left.count());
    const Time now = at(3ms);
    Retry retry{now + left};
    const auto next =
        retry.after(Errc::held, denied_for(std::nullopt), at(0ms), now, ~std::uint64_t{0} >> 1U);
    REQUIRE(next);
    CHECK(*next >= now);
    if (left <= 6ms)
      CHECK(*next == now + left);
    else
      CHECK(*next <= now + left - 6ms);
  }
}

TEST_CASE("a_waiting_call_ends_at_its_deadline_after_several_attempts") {
  Retry retry{at(100ms)};
  std::uint64_t random = 3;
  Time now = at(0ms);
  int attempts = 0;
  while (const auto next =
             retry.after(Errc::held, denied_for(std::nullopt), now, now + 1ms, next_random(random))) {
    REQUIRE(*next > now);
    REQUIRE(++attempts < 100);
    now = *next;
  }
  CHECK(now == at(100ms));
  CHECK(attempts > 2);
}

TEST_CASE("a_backoff_grows_to_its_bound_and_starts_over_after_a_reset") {
  Backoff backoff{50ms, 1s};
  CHECK(backoff.next(0) == 25ms);
  CHECK(backoff.next(0) == 50ms);
  for (int i = 0; i < 10; ++i) (void)backoff.next(0);
  CHECK(backoff.next(0) == 500ms);
  CHECK(backoff.next(500'000'000) == 1s);
  backoff.reset();
  CHECK(backoff.next(25'000'000) == 50ms);
}

TEST_CASE("equal_seeds_give_equal_sequences") {
  std::uint64_t one = 42;
  std::uint64_t other = 42;
  for (int i = 0; i < 100; ++i) CHECK(next_random(one) == next_random(other));
  // The first number of splitmix64 from 0, as its authors publish it.
  std::uint64_t zero = 0;
  CHECK(next_random(zero) == 0xe220a8397b1dcdafU);
}
