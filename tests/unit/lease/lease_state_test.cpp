// The state of a lease over time, and the events that may end it.
#include "redlock/core/lease/lease_state.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Loss;
using redlock::State;

/// Counts the notifications of an early loss.
struct CountingLeaseState final : LeaseState {
  using LeaseState::LeaseState;
  int early_losses = 0;

 private:
  void lost_early() noexcept override { ++early_losses; }
};

}  // namespace

TEST_CASE("a_lease_is_held_before_its_deadline_and_lost_at_it") {
  const LeaseState lease{example_claim(), at(500ms)};
  CHECK(lease.deadline() == at(500ms));
  CHECK(lease.state(at(0ms)) == State::held);
  CHECK(lease.state(at(500ms) - 1ns) == State::held);
  CHECK(lease.loss(at(500ms) - 1ns) == Loss::none);
  CHECK(lease.state(at(500ms)) == State::lost);
  CHECK(lease.loss(at(500ms)) == Loss::deadline_passed);
}

TEST_CASE("a_deadline_is_rounded_down_by_less_than_16_ns") {
  for (const Span more : {Span{0}, Span{1}, Span{15}, Span{16}, Span{17}}) {
    const LeaseState lease{example_claim(), at(500ms) + more};
    CHECK(lease.deadline() <= at(500ms) + more);
    CHECK(lease.deadline() > at(500ms) + more - 16ns);
  }
}

TEST_CASE("a_deadline_that_was_observed_as_passed_never_moves_again") {
  LeaseState lease{example_claim(), at(500ms)};
  SECTION("observed") {
    CHECK_FALSE(lease.in_force(at(500ms)));
    CHECK_FALSE(lease.prolong(at(900ms), at(499ms)));
    CHECK(lease.state(at(499ms)) == State::lost);
    CHECK(lease.deadline() == at(500ms));
  }
  SECTION("not observed, but passed") {
    CHECK_FALSE(lease.prolong(at(900ms), at(500ms)));
    CHECK(lease.loss(at(500ms)) == Loss::deadline_passed);
  }
  SECTION("in time") {
    CHECK(lease.prolong(at(900ms), at(499ms)));
    CHECK(lease.state(at(899ms)) == State::held);
  }
}

TEST_CASE("a_lease_is_never_shortened") {
  LeaseState lease{example_claim(), at(500ms)};
  CHECK(lease.prolong(at(300ms), at(100ms)));
  CHECK(lease.deadline() == at(500ms));
}

TEST_CASE("doubt_ends_with_the_next_extension_or_explains_the_loss") {
  LeaseState lease{example_claim(), at(500ms)};
  REQUIRE(lease.doubt(at(100ms)));
  CHECK(lease.state(at(100ms)) == State::in_doubt);
  CHECK(lease.in_force(at(100ms)));
  SECTION("extended") {
    CHECK(lease.prolong(at(900ms), at(200ms)));
    CHECK(lease.state(at(200ms)) == State::held);
    CHECK(lease.loss(at(900ms)) == Loss::deadline_passed);
  }
  SECTION("lost") { CHECK(lease.loss(at(500ms)) == Loss::no_quorum); }
}

TEST_CASE("a_lease_is_extended_to_its_latest_end_and_no_further") {
  LeaseState lease{example_claim(), at(500ms), at(800ms)};
  CHECK_FALSE(lease.is_final());
  CHECK(lease.prolong(at(900ms), at(400ms)));
  CHECK(lease.deadline() == at(800ms));
  CHECK(lease.is_final());
  CHECK(lease.loss(at(800ms)) == Loss::max_hold);
  const LeaseState short_one{example_claim(), at(500ms), at(300ms)};
  CHECK(short_one.deadline() == at(300ms));
  CHECK(short_one.loss(at(300ms)) == Loss::max_hold);
}

TEST_CASE("the_first_end_of_a_lease_is_final") {
  CountingLeaseState lease{example_claim(), at(500ms)};
  SECTION("lost") {
    CHECK(lease.lose(Loss::taken, at(100ms)));
    CHECK_FALSE(lease.lose(Loss::deleted, at(100ms)));
    CHECK_FALSE(lease.release(at(100ms)));
    CHECK_FALSE(lease.prolong(at(900ms), at(100ms)));
    CHECK_FALSE(lease.doubt(at(100ms)));
    CHECK(lease.state(at(100ms)) == State::lost);
    CHECK(lease.loss(at(600ms)) == Loss::taken);
    CHECK(lease.early_losses == 1);
  }
  SECTION("released") {
    CHECK(lease.release(at(100ms)));
    CHECK_FALSE(lease.lose(Loss::deleted, at(100ms)));
    CHECK_FALSE(lease.prolong(at(900ms), at(100ms)));
    CHECK(lease.state(at(600ms)) == State::released);
    CHECK(lease.loss(at(600ms)) == Loss::none);
    CHECK(lease.early_losses == 0);
  }
  SECTION("at its deadline") {
    CHECK_FALSE(lease.release(at(500ms)));
    CHECK_FALSE(lease.lose(Loss::deleted, at(500ms)));
    CHECK(lease.loss(at(500ms)) == Loss::deadline_passed);
    CHECK(lease.early_losses == 0);
  }
}

TEST_CASE("exactly_one_of_several_threads_ends_a_lease") {
  for (int round = 0; round < 200; ++round) {
    LeaseState lease{example_claim(), at(500ms)};
    std::atomic<int> ended = 0;
    std::atomic<bool> go = false;
    std::vector<std::jthread> threads;
    for (int which = 0; which < 4; ++which)
      threads.emplace_back([&, which] {
        while (!go) std::this_thread::yield();
        if (which == 0) ended += lease.release(at(499ms)) ? 1 : 0;
        if (which == 1) ended += lease.lose(Loss::deleted, at(499ms)) ? 1 : 0;
        if (which == 2) static_cast<void>(lease.prolong(at(500ms), at(499ms)));
        if (which == 3) static_cast<void>(lease.doubt(at(499ms)));
      });
    go = true;
    threads.clear();
    CHECK(ended == 1);
    CHECK_FALSE(lease.in_force(at(499ms)));
  }
}

TEST_CASE("a_lease_extended_to_its_latest_end_is_final_despite_rounding") {
  LeaseState lease{example_claim(), at(500ms), at(1s) + 7ns};
  CHECK_FALSE(lease.is_final());
  REQUIRE(lease.prolong(at(2s), at(0ms)));
  CHECK(lease.is_final());
}
