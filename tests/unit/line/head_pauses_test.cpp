// When the first one in line asks after attempts in vain, and when others come first all of a sudden.
#include <chrono>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/standing_client.hpp"

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;

namespace {

/// A call that is the first one in line, and has not seen the lock yet.
struct NewHead {
  NewHead() {
    client.join(call, at(0ms));
    client.answer(client.gate(), "stand", place_reply(0, 1), at(1ms));
  }
  /// The gate says that another call comes first.
  void displace(Time now) {
    client.lines.message(client.gate(), "redlock:qo:{key}");
    client.advance(now);
    client.answer(client.gate(), "stand", place_reply(1, 2), now);
  }
  void answer_reads(long long pttl, Time now) {
    for (NodeIndex node = 0; node < 2; ++node) client.answer(node, "PTTL", number(pttl), now);
  }
  void free_everywhere(Time now) {
    for (NodeIndex node = 0; node < 3; ++node) client.lines.key_changed(node, "key");
    client.advance(now);
  }
  /// How long after this end of an attempt the call asks again for a lock that is free.
  Span pause_after(LineHead::Attempt how, Time now) {
    const int before = call.attempts;
    client.lines.attempt_failed(call, how, now);
    free_everywhere(now);
    if (call.attempts > before) return {};
    const Time asked = client.lines.timer();
    client.advance(asked);
    REQUIRE(call.attempts == before + 1);
    return asked - now;
  }

  StandingClient client{3};
  TestWaiter call{at(0ms)};
};

}  // namespace

TEST_CASE("a_new_head_that_is_displaced_asks_once_if_the_lock_is_free") {
  NewHead head;
  head.displace(at(2ms));
  CHECK(head.call.attempts == 0);
  head.answer_reads(-2, at(3ms));
  REQUIRE(head.call.attempts == 1);
  head.client.lines.attempt_failed(head.call, LineHead::Attempt::denied, at(4ms));
  head.free_everywhere(at(4ms));
  CHECK(head.call.attempts == 1);
}

TEST_CASE("a_gate_that_displaces_a_new_head_and_says_that_the_lock_is_held_does_not_keep_it_from_asking") {
  NewHead head;
  const NodeIndex gate = head.client.gate();
  head.displace(at(2ms));
  head.client.answer(gate, "PTTL", number(100'000), at(3ms));
  head.client.answer((gate + 1) % 3, "PTTL", number(-2), at(3ms));
  CHECK(head.call.attempts == 0);
  head.client.answer((gate + 2) % 3, "PTTL", number(-2), at(4ms));
  CHECK(head.call.attempts == 1);
}

TEST_CASE("a_new_head_that_is_displaced_steps_back_as_soon_as_a_majority_says_that_the_lock_is_held") {
  NewHead head;
  head.displace(at(2ms));
  head.answer_reads(1000, at(3ms));
  head.free_everywhere(at(4ms));
  CHECK(head.call.attempts == 0);
  head.displace(at(5ms));
  head.free_everywhere(at(6ms));
  CHECK(head.call.attempts == 0);
}

TEST_CASE("a_head_that_has_had_its_turn_steps_back_at_once") {
  NewHead head;
  SECTION("because it has seen that the lock is held") {
    head.answer_reads(1000, at(2ms));
    CHECK(head.call.attempts == 0);
  }
  SECTION("because it has asked") {
    head.answer_reads(-2, at(2ms));
    REQUIRE(head.call.attempts == 1);
    head.client.lines.attempt_failed(head.call, LineHead::Attempt::denied, at(3ms));
  }
  const int before = head.call.attempts;
  head.displace(at(4ms));
  head.free_everywhere(at(5ms));
  CHECK(head.call.attempts == before);
}

TEST_CASE("a_call_for_several_locks_that_put_its_attempt_off_has_not_had_its_turn") {
  NewHead head;
  head.answer_reads(-2, at(2ms));
  REQUIRE(head.call.attempts == 1);
  head.client.lines.attempt_failed(head.call, LineHead::Attempt::put_off, at(2ms));
  head.client.advance(at(2ms));
  head.displace(at(3ms));
  CHECK(head.call.attempts == 2);
  head.client.lines.attempt_failed(head.call, LineHead::Attempt::denied, at(4ms));
  head.free_everywhere(at(5ms));
  CHECK(head.call.attempts == 2);
}

TEST_CASE("a_head_has_had_its_turn_when_another_line_made_the_attempt") {
  NewHead head;
  head.answer_reads(-2, at(2ms));
  head.client.lines.attempt_failed(head.call, LineHead::Attempt::put_off, at(2ms));
  head.client.lines.attempt_failed(head.call, LineHead::Attempt::unclear, at(3ms));
  head.client.advance(at(3ms));
  head.displace(at(4ms));
  head.free_everywhere(at(5ms));
  CHECK(head.call.attempts == 1);
}

TEST_CASE("a_node_that_votes_again_after_a_new_head_was_displaced_still_counts") {
  NewHead head;
  const NodeIndex gate = head.client.gate();
  head.client.nodes.ready[(gate + 1) % 3] = false;
  head.client.answer(gate, "PTTL", number(100'000), at(2ms));
  head.displace(at(2ms));
  head.client.nodes.ready[(gate + 1) % 3] = true;
  for (const NodeIndex honest : {(gate + 1) % 3, (gate + 2) % 3})
    head.client.answer(honest, "PTTL", number(-2), at(3ms));
  CHECK(head.call.attempts == 1);
}

TEST_CASE("the_gate_cannot_keep_a_head_from_counting_the_answers_of_slower_nodes") {
  NewHead head;
  const NodeIndex gate = head.client.gate();
  head.client.answer(gate, "PTTL", number(100'000), at(2ms));
  for (Time now = at(3ms); now < at(9ms);
       now += 1ms) {  // the head is confirmed again before the others have answered
    head.client.lines.message(gate, "redlock:qo:{key}");
    head.client.advance(now);
    head.client.answer(gate, "stand", place_reply(0, 1), now);
  }
  for (const NodeIndex slow : {(gate + 1) % 3, (gate + 2) % 3})
    head.client.answer(slow, "PTTL", number(-2), at(9ms));
  CHECK(head.call.attempts == 1);
}

TEST_CASE("a_new_head_that_is_displaced_steps_back_after_the_node_timeout_if_too_few_nodes_answer") {
  NewHead head;
  head.displace(at(2ms));
  CHECK(head.client.lines.timer() == at(52ms));
  head.client.advance(at(52ms));
  head.free_everywhere(at(53ms));
  CHECK(head.call.attempts == 0);
}

TEST_CASE("a_new_head_that_is_displaced_and_then_confirmed_remains_the_head") {
  NewHead head;
  head.displace(at(2ms));
  head.client.lines.message(head.client.gate(), "redlock:qo:{key}");
  head.client.advance(at(3ms));
  head.client.answer(head.client.gate(), "stand", place_reply(0, 1), at(3ms));
  head.client.advance(at(60ms));
  head.free_everywhere(at(61ms));
  CHECK(head.call.attempts == 1);
}

TEST_CASE("denials_in_quick_succession_are_followed_by_short_pauses_that_grow") {
  NewHead head;
  head.free_everywhere(at(2ms));
  REQUIRE(head.call.attempts == 1);
  std::vector<Span> pauses;
  Time now = at(3ms);
  for (int denials = 0; denials < 5; ++denials) {
    pauses.push_back(head.pause_after(LineHead::Attempt::denied, now));
    now += pauses.back() + 50ms;
  }
  CHECK(pauses == std::vector<Span>{0ms, 1ms, 2ms, 4ms, 4ms});
  CHECK(head.pause_after(LineHead::Attempt::denied, now + 60ms) == Span{});
}

TEST_CASE("a_denial_soon_after_a_grant_is_followed_by_no_pause") {
  NewHead head;
  TestWaiter next{at(0ms)};
  head.free_everywhere(at(2ms));
  REQUIRE(head.call.attempts == 1);
  CHECK(head.pause_after(LineHead::Attempt::denied, at(3ms)) == 0ms);
  head.client.lines.attempt_succeeded(head.call, true, at(4ms));
  head.client.join(next, at(4ms));
  head.client.answer(head.client.gate(), "stand", place_reply(0, 1), at(5ms));
  head.free_everywhere(at(6ms));
  REQUIRE(next.attempts == 1);
  head.client.lines.attempt_failed(next, LineHead::Attempt::denied, at(7ms));
  head.free_everywhere(at(7ms));
  CHECK(next.attempts == 2);
}

TEST_CASE("an_attempt_that_failed_for_want_of_another_lock_does_not_shorten_the_pauses_after_split_votes") {
  NewHead head;
  head.free_everywhere(at(2ms));
  CHECK(head.pause_after(LineHead::Attempt::split, at(3ms)) == 1ms);
  CHECK(head.pause_after(LineHead::Attempt::unclear, at(13ms)) == 0ms);
  CHECK(head.pause_after(LineHead::Attempt::split, at(23ms)) == 2ms);
  CHECK(head.pause_after(LineHead::Attempt::denied, at(33ms)) == 0ms);
  CHECK(head.pause_after(LineHead::Attempt::split, at(43ms)) == 1ms);
}

TEST_CASE("a_node_that_reports_no_changes_is_read_again_only_after_its_answer") {
  StandingClient client{1};
  client.nodes.blind[0] = true;
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.answer(0, "stand", place_reply(0, 1), at(1ms));
  CHECK(client.count("PTTL") == 1);
  client.advance(at(150ms));
  CHECK(client.count("PTTL") == 0);
  client.answer(0, "PTTL", number(-2), at(151ms));  // later than the pause between two reads
  CHECK(call.attempts == 1);
}
