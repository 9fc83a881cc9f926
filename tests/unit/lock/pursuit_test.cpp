#include "redlock/core/lock/pursuit.hpp"

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
using redlock::NodeStatus;
using Attempts = Pursuit::Attempts;
using Mark = Tally::Mark;
using Next = Pursuit::Next;

/// Three nodes: one voted, one is unreachable, and the third may vote again after this time.
Tally one_voted(std::optional<std::chrono::milliseconds> votes_in) {
  Tally tally{3};
  tally.mark(0, Mark::yes);
  tally.mark(1, Mark::unknown, {NodeStatus::unreachable, "refused"});
  tally.mark(2, Mark::unknown, {NodeStatus::quarantined, "waits", votes_in});
  return tally;
}

Pursuit pursuit(Attempts attempts, Time give_up_at, std::optional<Span> node_wait) {
  return Pursuit{example_claim(), attempts, give_up_at, node_wait};
}

/// An attempt at this time, which takes a millisecond and fails for lack of votes.
Next fail(Pursuit& call, Span when, std::optional<std::chrono::milliseconds> votes_in) {
  static_cast<void>(call.claim("owner", 0));
  return call.failed(Errc::no_quorum, one_voted(votes_in), at(when), at(when + 1ms), 0);
}

}  // namespace

TEST_CASE("a_majority_votes_when_enough_nodes_vote_again") {
  CHECK(one_voted(700ms).majority_votes_in() == Span{700ms});
  CHECK(one_voted(std::nullopt).majority_votes_in() == std::nullopt);
  Tally all{3};
  for (NodeIndex node = 0; node < 3; ++node) all.mark(node, Mark::no);
  CHECK(all.majority_votes_in() == Span{0ms});
}

TEST_CASE("a_call_for_one_attempt_waits_for_nodes_only_if_it_is_told_to") {
  Pursuit plain = pursuit(Attempts::one, never, std::nullopt);
  CHECK(fail(plain, 0ms, 100ms) == Next::end);
  Pursuit none = pursuit(Attempts::one, never, 0ms);
  CHECK(fail(none, 0ms, 100ms) == Next::end);
  Pursuit waiting = pursuit(Attempts::one, never, 2s);
  REQUIRE(fail(waiting, 0ms, 100ms) == Next::pause);
  CHECK(waiting.pause_until() == at(101ms));
  CHECK(waiting.pause_over(at(101ms)) == Next::attempt);
  CHECK(waiting.claim("another", 0).key == example_claim().key);
  // The lock is held: that ends it.
  Tally held{3};
  for (NodeIndex node = 0; node < 3; ++node) held.mark(node, Mark::no);
  CHECK(waiting.failed(Errc::held, held, at(102ms), at(103ms), 0) == Next::end);
  CHECK(waiting.code() == Errc::held);
}

TEST_CASE("the_wait_for_nodes_ends_on_time_and_looks_twice_a_second") {
  Pursuit call = pursuit(Attempts::one, never, 1200ms);
  REQUIRE(fail(call, 0ms, 60s) == Next::pause);
  CHECK(call.pause_until() == at(501ms));
  REQUIRE(fail(call, 501ms, 59s) == Next::pause);
  CHECK(call.pause_until() == at(1002ms));
  REQUIRE(fail(call, 1002ms, 59s) == Next::pause);
  CHECK(call.pause_until() == at(1201ms));
  CHECK(fail(call, 1201ms, 58s) == Next::end);
  CHECK(call.code() == Errc::no_quorum);
  // A node that may vote at once is not asked without a pause.
  Pursuit at_once = pursuit(Attempts::one, never, 1s);
  REQUIRE(fail(at_once, 0ms, 0ms) == Next::pause);
  CHECK(at_once.pause_until() == at(11ms));
}

TEST_CASE("a_call_for_one_attempt_does_not_wait_for_nodes_that_do_not_say_when_they_vote") {
  Pursuit call = pursuit(Attempts::one, never, 10s);
  CHECK(fail(call, 0ms, std::nullopt) == Next::end);
}

TEST_CASE("a_waiting_call_gives_up_on_nodes_that_wait_when_its_node_wait_is_over") {
  Pursuit call = pursuit(Attempts::until_time, at(100s), 1s);
  Span when{};
  for (;;) {
    const Next next = fail(call, when, 60s);
    if (next == Next::end) break;
    REQUIRE(when <= 1s);
    when = call.pause_until() - at(0ms);
  }
  CHECK(when == 1001ms);
  CHECK(call.code() == Errc::no_quorum);
}

TEST_CASE("each_outage_has_a_node_wait_of_its_own_and_unreachable_nodes_have_none") {
  Pursuit call = pursuit(Attempts::until_time, at(100s), 1s);
  REQUIRE(fail(call, 0ms, 60s) == Next::pause);
  REQUIRE(fail(call, 5s, std::nullopt) == Next::pause);
  REQUIRE(fail(call, 10s, 60s) == Next::pause);
  REQUIRE(fail(call, 10900ms, 60s) == Next::pause);
  CHECK(fail(call, 11100ms, 60s) == Next::end);
  Pursuit without = pursuit(Attempts::until_time, at(100s), std::nullopt);
  for (const Span when : {0s, 10s, 90s}) CHECK(fail(without, when, 60s) == Next::pause);
}
