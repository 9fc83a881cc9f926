// The line of one client's calls: when it looks, asks, moves and leaves.
#include <chrono>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/failing_memory.hpp"
#include "unit/support/standing_client.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::NodeStatus;
using redlock::core::LineHead;
using redlock::core::NodeIndex;

TEST_CASE("a_call_that_joins_stands_at_the_gate_and_sends_nothing_else") {
  StandingClient client{5};
  TestWaiter call{at(0ms)};
  client.join(call, at(1ms));
  CHECK(client.sent() == std::vector{std::to_string(client.gate()) + " stand"});
  CHECK(client.nodes.listening == 1);
  CHECK(call.attempts == 0);
}

TEST_CASE("the_first_one_in_line_raises_the_flag_and_reads_the_key_on_all_nodes") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(1ms));
  client.answer(client.gate(), "stand", place_reply(0, 1, "the line"), at(2ms));
  CHECK(client.count("SET") == 3);
  for (const auto& [sent, sender] : client.under_way)
    if (StandingClient::kind_of(sent.command) == "SET")
      CHECK(words_of(sent.command) ==
            std::vector<std::string>{"SET", "redlock:qw:{key}", "the line", "PX", "6500"});
  CHECK(call.attempts == 0);
}

TEST_CASE("one_behind_the_first_one_raises_no_flag_and_looks_again_when_that_one_may_be_dead") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(1ms));
  static_cast<void>(client.sent());
  client.answer(client.gate(), "stand", place_reply(1, 2, "line", 300), at(2ms));
  CHECK(client.sent().empty());
  CHECK(client.lines.timer() == at(303ms));
  client.advance(at(303ms));
  CHECK(client.count("stand") == 1);
}

TEST_CASE("everybody_looks_again_after_a_second_and_at_once_after_a_message_of_the_gate") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.answer(client.gate(), "stand", place_reply(2, 3), at(0ms));
  static_cast<void>(client.sent());
  CHECK(client.lines.timer() == at(1125ms));
  client.lines.message((client.gate() + 1) % 3, "redlock:qo:{key}");
  client.advance(at(1ms));
  CHECK(client.sent().empty());
  client.lines.message(client.gate(), "redlock:qo:{key}");
  client.advance(at(1ms));
  CHECK(client.count("stand") == 1);
  // A message that comes before the answer is not lost.
  client.lines.message(client.gate(), "redlock:qo:{key}");
  client.advance(at(2ms));
  CHECK(client.sent().empty());
  client.answer(client.gate(), "stand", place_reply(1, 3), at(3ms));
  CHECK(client.count("stand") == 1);
}

TEST_CASE("a_gate_that_publishes_no_messages_is_looked_at_more_often") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  const bool may_publish = GENERATE(true, false);
  if (may_publish) client.nodes.hearing.assign(3, false);
  client.join(call, at(0ms));
  client.answer(client.gate(), "stand", place_reply(2, 3, "line", -1, may_publish), at(0ms));
  CHECK(client.lines.timer() == at(75ms));
}

TEST_CASE("the_first_one_asks_when_a_majority_may_be_free") {
  StandingClient client{5};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.become_head(at(1ms));
  SECTION("because the nodes reported changes") {
    client.lines.key_changed(0, "key");
    client.lines.key_changed(1, "key");
    client.lines.key_changed(2, "another key");
    client.advance(at(2ms));
    CHECK(call.attempts == 0);
    client.lines.key_changed(4, "key");
    client.advance(at(2ms));
    CHECK(call.attempts == 1);
  }
  SECTION("because the ttl that it read is over") {
    CHECK(client.lines.timer() == at(1002ms));
    client.nodes.granting = {true, true, false, false, false};
    client.advance(at(1002ms));
    CHECK(call.attempts == 0);  // the restart guard admits too few of them
    client.nodes.granting.assign(5, true);
    client.lines.node_changed();
    client.advance(at(1003ms));
    CHECK(call.attempts == 1);
  }
  SECTION("because this client has released the lock itself") {
    client.lines.released("key", false);
    client.advance(at(2ms));
    CHECK(call.attempts == 1);
  }
}

TEST_CASE("the_first_one_asks_for_a_seat_when_one_seat_may_be_free_on_a_majority") {
  StandingClient client{3};
  TestWaiter call{at(0ms), 2};
  client.join(call, at(0ms));
  client.answer(client.gate(), "stand", place_reply(0, 1), at(1ms));
  client.answer(0, "seats", array_reply({number(-2), number(1000)}), at(1ms));
  client.answer(1, "seats", array_reply({number(700), number(-2)}), at(1ms));
  client.answer(2, "seats", array_reply({number(1000), number(1000)}), at(1ms));
  CHECK(call.attempts == 0);  // on each majority some seat is free, and none is free on all of it
  SECTION("because a node reported a change") {
    client.lines.key_changed(2, "key#2");  // not one of these two seats
    client.advance(at(2ms));
    CHECK(call.attempts == 0);
    client.lines.key_changed(2, "key#1");
    client.advance(at(2ms));
  }
  SECTION("because the ttl that it read is over") {
    CHECK(client.lines.timer() == at(702ms));
    client.advance(at(702ms));
  }
  SECTION("because this client has released a seat itself") {
    client.lines.released("key#1", true);
    client.advance(at(2ms));
  }
  CHECK(call.attempts == 1);
}

TEST_CASE("a_message_that_overtakes_the_reply_of_a_read_is_not_lost") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.answer(client.gate(), "stand", place_reply(0, 1), at(1ms));
  for (NodeIndex node = 0; node < 2; ++node) client.lines.key_changed(node, "key");
  client.advance(at(1ms));
  CHECK(call.attempts == 1);
  for (NodeIndex node = 0; node < 2; ++node) client.answer(node, "PTTL", number(1000), at(2ms));
  client.lines.attempt_failed(call, LineHead::Attempt::denied, at(2ms));
  client.advance(at(2ms));
  CHECK(call.attempts == 1);
  CHECK(client.count("PTTL") == 6);  // read again after the attempt
}

TEST_CASE("after_an_attempt_that_some_nodes_granted_the_next_one_waits_a_little") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.answer(client.gate(), "stand", place_reply(0, 1), at(0ms));
  for (NodeIndex node = 0; node < 2; ++node) client.answer(node, "PTTL", number(-2), at(0ms));
  REQUIRE(call.attempts == 1);
  client.lines.attempt_failed(call, LineHead::Attempt::split, at(1ms));
  client.advance(at(1ms));
  for (NodeIndex node = 0; node < 3; ++node) client.answer(node, "PTTL", number(-2), at(1ms));
  CHECK(call.attempts == 1);
  CHECK(client.lines.timer() == at(2ms));
  client.advance(at(2ms));
  CHECK(call.attempts == 2);
}

TEST_CASE("a_call_that_puts_its_attempt_off_keeps_its_place_and_is_asked_again_without_commands") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.answer(client.gate(), "stand", place_reply(0, 1), at(0ms));
  for (NodeIndex node = 0; node < 2; ++node) client.answer(node, "PTTL", number(-2), at(0ms));
  REQUIRE(call.attempts == 1);
  static_cast<void>(client.sent());
  client.lines.attempt_failed(call, LineHead::Attempt::put_off, at(1ms));
  client.advance(at(1ms));
  CHECK(client.lines.timer() == at(101ms));
  CHECK(call.attempts == 1);
  client.advance(at(101ms));
  CHECK(call.attempts == 2);
  CHECK(client.sent().empty());
  // Another lock was free before the pause is over, and then this one was denied: it is asked as soon as it may be free.
  client.lines.attempt_failed(call, LineHead::Attempt::put_off, at(102ms));
  client.lines.attempt_failed(call, LineHead::Attempt::denied, at(103ms));
  client.advance(at(103ms));
  for (NodeIndex node = 0; node < 2; ++node) client.answer(node, "PTTL", number(-2), at(104ms));
  CHECK(call.attempts == 3);
}

TEST_CASE("a_call_whose_attempt_another_line_asked_for_ends_no_attempt_of_this_line") {
  StandingClient client{3};
  TestWaiter first{at(0ms)};
  TestWaiter of_another_line{at(1ms)};
  client.join(first, at(1ms));
  client.join(of_another_line, at(1ms));
  client.answer(client.gate(), "stand", place_reply(0, 1), at(1ms));
  for (NodeIndex node = 0; node < 2; ++node) client.answer(node, "PTTL", number(-2), at(1ms));
  REQUIRE(first.attempts == 1);
  static_cast<void>(client.sent());
  const bool is_denied = GENERATE(true, false);
  is_denied ? client.lines.attempt_failed(of_another_line, LineHead::Attempt::denied, at(2ms))
            : client.lines.attempt_succeeded(of_another_line, true, at(2ms));
  client.advance(at(2ms));
  client.lines.released("key", false);
  client.advance(at(3ms));
  CHECK(first.attempts == 1);  // it is under way
  CHECK(client.sent().empty());
  client.lines.attempt_failed(first, LineHead::Attempt::denied, at(4ms));
  client.advance(at(4ms));
  CHECK(client.count("PTTL") == 3);
}

TEST_CASE("the_next_call_acts_only_when_the_gate_has_heard_of_it") {
  StandingClient client{3};
  TestWaiter first{at(0ms)};
  TestWaiter second{at(1ms)};
  client.join(first, at(1ms));
  client.join(second, at(1ms));
  client.become_head(at(2ms));
  client.lines.released("key", false);
  client.advance(at(3ms));
  REQUIRE(first.attempts == 1);
  const bool is_granted = GENERATE(true, false);
  if (is_granted)
    client.lines.attempt_succeeded(first, true, at(1ms));
  else
    client.lines.leave(first);
  client.advance(at(4ms));
  const auto sent = client.sent();
  CHECK(sent == std::vector{std::to_string(client.gate()) + " stand"});
  client.lines.key_changed(0, "key");
  client.lines.key_changed(1, "key");
  client.advance(at(5ms));
  CHECK(second.attempts == 0);
  SECTION("then it is queued or the head") {
    client.answer(client.gate(), "stand", place_reply(1, 2), at(6ms));
    CHECK(client.sent().empty());
  }
  SECTION("and asks at once if this client released the lock meanwhile") {
    client.lines.released("key", false);
    client.advance(at(5ms));
    client.answer(client.gate(), "stand", place_reply(0, 2), at(6ms));
    CHECK(second.attempts == 1);
  }
}

TEST_CASE("a_release_while_another_client_is_the_first_one_does_not_count_when_this_one_becomes_it") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.answer(client.gate(), "stand", place_reply(1, 2), at(1ms));
  client.lines.released("key", false);
  client.advance(at(2ms));
  client.lines.message(client.gate(), "redlock:qo:{key}");
  client.advance(at(3ms));
  client.answer(client.gate(), "stand", place_reply(0, 1), at(4ms));
  CHECK(call.attempts == 0);  // the other one has the lock by now
  CHECK(client.count("PTTL") == 3);
}

TEST_CASE("the_answer_about_a_call_that_is_not_the_first_one_any_more_does_not_count") {
  StandingClient client{3};
  TestWaiter first{at(0ms)};
  TestWaiter second{at(1ms)};
  client.join(first, at(1ms));
  client.join(second, at(1ms));
  client.lines.leave(first);
  client.advance(at(2ms));
  static_cast<void>(client.sent());
  client.answer(client.gate(), "stand", place_reply(0, 1), at(3ms));
  CHECK(client.sent().empty());
  client.answer(client.gate(), "stand", place_reply(0, 1), at(4ms));
  CHECK(client.count("PTTL") == 3);
}

TEST_CASE("a_call_that_waited_elsewhere_comes_before_later_ones") {
  StandingClient client{3};
  TestWaiter late{at(10ms)};
  TestWaiter early{at(0ms)};
  client.join(late, at(10ms));
  client.become_head(at(10ms));
  client.join(early, at(20ms));
  client.lines.key_changed(0, "key");
  client.lines.key_changed(1, "key");
  client.advance(at(20ms));
  CHECK(late.attempts == 0);
  client.answer(client.gate(), "stand", place_reply(0, 1), at(21ms));
  for (NodeIndex node = 0; node < 3; ++node) client.answer(node, "PTTL", number(-2), at(21ms));
  CHECK(early.attempts == 1);
  CHECK(late.attempts == 0);
}

TEST_CASE("a_gate_that_does_not_answer_is_left_for_the_next_one_and_taken_again_when_it_answers") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  const NodeIndex first = client.gate();
  static_cast<void>(client.sent());
  CHECK(client.lines.timer() == at(50ms));
  client.advance(at(50ms));
  const auto moved = client.sent();
  REQUIRE(moved.size() == 2);
  CHECK(moved[0] == std::to_string(first) + " leave");
  CHECK(moved[1] != std::to_string(first) + " stand");
  client.answer(first, "stand", place_reply(0, 1), at(60ms));  // too late to count, but it is alive
  CHECK(client.count("stand") == 1);
  CHECK(call.times_turned_away == 0);
}

TEST_CASE("a_gate_to_which_nothing_can_be_sent_is_left_for_the_next_one") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  const NodeIndex gate = client.gate();
  client.become_head(at(1ms));
  static_cast<void>(client.sent());
  client.outbox.recording.refuse(gate, redlock::NodeStatus::overloaded);
  client.advance(at(2s));
  client.advance(at(2s));
  const auto sent = client.sent();
  REQUIRE(sent.size() >= 2);
  CHECK(sent.front() == std::to_string(gate) + " stand");
  CHECK(sent.back().ends_with(" stand"));
  CHECK(sent.back() != sent.front());
  CHECK(call.times_turned_away == 0);
}

TEST_CASE("calls_are_turned_away_if_too_few_nodes_are_ready_or_none_answers") {
  StandingClient client{3};
  TestWaiter first{at(0ms)};
  TestWaiter second{at(0ms)};
  client.join(first, at(0ms));
  client.join(second, at(0ms));
  SECTION("too few are ready") {
    client.become_head(at(1ms));
    client.nodes.ready = {true, false, false};
    client.lines.node_changed();
    client.advance(at(2ms));
  }
  SECTION("none answers") {
    for (int gate = 1; gate <= 3; ++gate) client.advance(at(gate * 50ms));
  }
  CHECK(first.times_turned_away == 1);
  CHECK(second.times_turned_away == 1);
  CHECK(client.count("leave") > 0);
  CHECK(client.nodes.listening == 0);
}

TEST_CASE("a_call_whose_attempt_is_under_way_is_not_turned_away") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.become_head(at(1ms));
  client.lines.released("key", false);
  client.advance(at(2ms));
  REQUIRE(call.attempts == 1);
  client.nodes.ready = {true, false, false};
  client.lines.node_changed();
  client.advance(at(3ms));
  CHECK(call.times_turned_away == 0);
  client.lines.attempt_succeeded(call, true, at(4ms));
  client.advance(at(4ms));
  CHECK(client.nodes.listening == 0);
}

TEST_CASE("a_gate_that_cannot_order_the_line_for_now_is_left_for_the_next_one") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  const NodeIndex gate = client.gate();
  static_cast<void>(client.sent());
  const auto who_stands_there_is_unknown = place_reply(-1, 1);
  client.answer(gate, "stand", GENERATE_COPY(loading(), number(1), who_stands_there_is_unknown), at(1ms));
  const auto sent = client.sent();
  REQUIRE(sent.size() == 2);
  CHECK(sent[0] == std::to_string(gate) + " leave");
  CHECK(sent[1].ends_with(" stand"));
  CHECK(sent[1] != std::to_string(gate) + " stand");
  CHECK(call.refusal.empty());
  CHECK(call.times_turned_away == 0);
}

TEST_CASE("a_node_that_refuses_the_line_is_named_to_all_calls") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.answer(client.gate(), "stand", error_reply("NOPERM no rights"), at(1ms));
  CHECK(call.refusal == "NOPERM no rights");
}

TEST_CASE("a_call_that_stands_behind_for_as_long_as_a_flag_lives_asks_out_of_turn") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  const NodeIndex gate = client.gate();
  const auto stand_behind = [&](redlock::core::Time begin, redlock::core::Time end) {
    for (redlock::core::Time now = begin; now < end; now = client.lines.timer()) {
      client.advance(now);
      if (client.count("stand") > 0) client.answer(gate, "stand", place_reply(1, 2), now);
    }
  };
  stand_behind(at(0ms), at(6500ms));
  CHECK(call.attempts_out_of_turn == 0);
  client.advance(at(6500ms));
  CHECK(call.attempts_out_of_turn == 1);
  SECTION("and again if it was denied") {
    client.lines.attempt_failed(call, LineHead::Attempt::denied, at(6501ms));
    stand_behind(at(6501ms), at(13s));
    CHECK(call.attempts_out_of_turn == 1);
    client.advance(at(13s));
    CHECK(call.attempts_out_of_turn == 2);
    CHECK(client.nodes.contradictions.empty());
  }
  SECTION("and contradicts the gate if it was granted") {
    client.lines.attempt_succeeded(call, true, at(6501ms));
    CHECK(client.nodes.contradictions == std::vector{gate});
  }
  SECTION("which a grant without regard to flags does not") {
    client.lines.attempt_succeeded(call, false, at(6501ms));
    CHECK(client.nodes.contradictions.empty());
  }
  SECTION("but believes the gate if it has become the first one by then") {
    client.lines.message(gate, "redlock:qo:{key}");
    client.advance(at(6501ms));
    client.answer(gate, "stand", place_reply(0, 1), at(6501ms));
    client.lines.attempt_succeeded(call, true, at(6502ms));
    CHECK(client.nodes.contradictions.empty());
  }
  CHECK(call.attempts == 0);
}

TEST_CASE("those_who_wait_move_away_from_a_gate_that_is_not_believed") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  const NodeIndex gate = client.gate();
  client.answer(gate, "stand", place_reply(1, 2), at(1ms));
  static_cast<void>(client.sent());
  client.nodes.distrusted[gate] = true;
  client.lines.node_changed();
  client.advance(at(2ms));
  const auto moved = client.sent();
  REQUIRE(moved.size() == 2);
  CHECK(moved[0] == std::to_string(gate) + " leave");
  CHECK(moved[1] == std::to_string(client.gate()) + " stand");
  CHECK(client.gate() != gate);
}

TEST_CASE("whoever_leaves_the_line_as_the_last_one_takes_the_flag_down") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.become_head(at(1ms));
  const NodeIndex gate = client.gate();
  client.lines.leave(call);
  client.advance(at(2ms));
  CHECK(client.sent() == std::vector{std::to_string(gate) + " leave"});
  CHECK(client.nodes.listening == 0);
  SECTION("others stand there") {
    client.answer(gate, "leave", place_reply(-1, 2), at(3ms));
    CHECK(client.sent().empty());
  }
  SECTION("nobody stands there") {
    client.answer(gate, "leave", place_reply(-1, 0, "line 1"), at(3ms));
    CHECK(client.count("lower") == 3);
    const std::vector<std::string> words = words_of(client.under_way.back().first.command);
    CHECK(words.at(3) == "redlock:qw:{key}");
    CHECK(words.at(4) == "line 1");
  }
  SECTION("another call of this client stands there again, in a line with another name") {
    TestWaiter next{at(3ms)};
    client.join(next, at(3ms));
    client.answer(gate, "leave", place_reply(-1, 0, "line 1"), at(4ms));
    CHECK(client.count("lower") == 3);
    CHECK(words_of(client.under_way.back().first.command).at(4) == "line 1");
  }
}

TEST_CASE(
    "a_server_that_lost_the_script_gets_its_source_but_not_to_leave_a_line_in_which_the_client_stands") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  const NodeIndex gate = client.gate();
  client.answer(gate, "stand", noscript(), at(1ms));
  CHECK(client.count("stand") == 2);
  client.answer(gate, "stand", place_reply(1, 2), at(2ms));
  client.lines.leave(call);
  client.advance(at(3ms));
  const bool stands_again = GENERATE(false, true);
  TestWaiter next{at(4ms)};
  if (stands_again) client.join(next, at(4ms));
  static_cast<void>(client.sent());
  client.answer(gate, "leave", noscript(), at(5ms));
  CHECK(client.count("leave") == (stands_again ? 0 : 1));
}

TEST_CASE("a_lost_connection_to_the_gate_moves_the_line_and_an_unanswered_leave_is_sent_again") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.become_head(at(1ms));
  const NodeIndex gate = client.gate();
  const bool had_left = GENERATE(false, true);
  if (had_left) client.lines.leave(call);
  client.advance(at(2ms));
  static_cast<void>(client.sent());
  client.nodes.ready[gate] = false;
  client.lines.disconnected(gate, lost_connection(), at(3ms), client.outbox);
  client.advance(at(3ms));
  const auto sent = client.sent();
  // The connection that comes may lead to a server that has restarted, and nobody reads its reply.
  const Sent& leave = std::next(client.under_way.rbegin(), had_left ? 0 : 1)->first;
  CHECK(words_of(leave.command).front() == "EVAL");
  if (had_left)
    CHECK(sent == std::vector{std::to_string(gate) + " leave"});
  else
    CHECK(sent == std::vector{std::to_string(gate) + " leave", std::to_string(client.gate()) + " stand"});
}

TEST_CASE("the_first_one_reads_blind_nodes_again_and_again") {
  StandingClient client{3};
  client.nodes.blind.assign(3, true);
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.become_head(at(0ms));
  CHECK(client.lines.timer() == at(75ms));
  client.advance(at(75ms));
  CHECK(client.count("PTTL") == 3);
}

TEST_CASE("an_own_write_of_the_key_is_followed_by_a_read") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.become_head(at(1ms));
  client.lines.written(1, "key");
  client.lines.written(2, "another key");
  client.advance(at(2ms));
  CHECK(client.sent() == std::vector<std::string>{"1 CLIENT", "1 PTTL"});
}

TEST_CASE("a_flag_that_a_slow_node_raises_late_is_taken_down_if_its_line_is_over") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  client.join(call, at(0ms));
  client.become_head(at(1ms));
  const NodeIndex gate = client.gate();
  const NodeIndex slow = (gate + 1) % 3;
  client.answer(gate, "SET", ok(), at(1ms));
  client.lines.leave(call);
  client.advance(at(2ms));
  CHECK(client.sent() == std::vector{std::to_string(gate) + " leave"});
  SECTION("the client asks the gate once more") {
    client.answer(slow, "SET", ok(), at(3ms));
    CHECK(client.sent() == std::vector{std::to_string(gate) + " leave"});
    client.answer(gate, "leave", place_reply(-1, 1), at(4ms));  // before the flag came up
    CHECK(client.sent().empty());
    SECTION("others stand there, and the last one of them will take it down") {
      client.answer(gate, "leave", place_reply(-1, 1), at(5ms));
      CHECK(client.sent().empty());
    }
    SECTION("nobody stands there") {
      client.answer(gate, "leave", place_reply(-1, 0, ""), at(5ms));
      CHECK(client.count("lower") == 3);
      CHECK(words_of(client.under_way.back().first.command).at(4) == "line 1");
    }
    SECTION("others stand there in a newer line") {
      client.answer(gate, "leave", place_reply(-1, 1, "line 2"), at(5ms));
      CHECK(client.count("lower") == 3);
      CHECK(words_of(client.under_way.back().first.command).at(4) == "line 1");
    }
  }
  SECTION("the client stands in a line again: it finds out when it leaves") {
    client.answer(gate, "leave", place_reply(-1, 1), at(3ms));
    TestWaiter next{at(3ms)};
    client.join(next, at(3ms));
    client.answer(gate, "stand", place_reply(1, 2, "line 2"), at(4ms));
    client.answer(slow, "SET", ok(), at(5ms));
    CHECK(client.sent() == std::vector{std::to_string(gate) + " stand"});
    client.lines.leave(next);
    client.advance(at(6ms));
    client.answer(gate, "leave", place_reply(-1, 1, "line 2"), at(7ms));
    CHECK(client.count("lower") == 3);
    CHECK(words_of(client.under_way.back().first.command).at(4) == "line 1");
  }
  SECTION("the connection to the slow node is lost, which may still execute the command") {
    client.lines.disconnected(slow, {redlock::NodeStatus::unreachable, "lost"}, at(3ms), client.outbox);
    CHECK(client.sent() == std::vector{std::to_string(gate) + " leave"});
    for (const char* const line : {"line 1", ""})
      client.answer(gate, "leave", place_reply(-1, *line ? 1 : 0, line), at(5ms));
    CHECK(client.count("lower") == 3);
  }
  SECTION("the client stands in another line at another gate") {
    client.answer(gate, "leave", place_reply(-1, 1), at(3ms));
    client.nodes.ready[gate] = false;
    TestWaiter next{at(3ms)};
    client.join(next, at(3ms));
    const NodeIndex other_gate = client.gate();
    client.answer(other_gate, "stand", place_reply(1, 2, "line 2"), at(4ms));
    client.answer(slow, "SET", ok(), at(5ms));
    CHECK(client.sent() ==
          std::vector{std::to_string(other_gate) + " stand", std::to_string(gate) + " leave"});
    client.answer(gate, "leave", place_reply(-1, 1), at(6ms));
    CHECK(client.sent().empty());
  }
  SECTION("the client has raised the flag of another line since") {
    client.answer(gate, "leave", place_reply(-1, 0), at(3ms));
    TestWaiter next{at(3ms)};
    client.join(next, at(3ms));
    client.answer(gate, "stand", place_reply(0, 1, "line 2"), at(4ms));
    static_cast<void>(client.sent());
    client.answer(slow, "SET", ok(), at(5ms));
    CHECK(client.sent().empty());
  }
  SECTION("a client that closes waits for the answer") {
    client.answer(gate, "leave", place_reply(-1, 1), at(3ms));
    CHECK_FALSE(client.lines.all_left());
    client.answer(slow, "SET", ok(), at(4ms));
    client.answer(3 - gate - slow, "SET", ok(), at(4ms));
    CHECK_FALSE(client.lines.all_left());
    for (int reply = 0; reply < 2; ++reply) client.answer(gate, "leave", place_reply(-1, 1), at(5ms));
    CHECK(client.lines.all_left());
  }
}

TEST_CASE("new_calls_join_until_the_others_have_looked_after_the_last_one_left_and_then_nothing_is_left") {
  StandingClient client{3};
  TestWaiter call{at(0ms)};
  CHECK_FALSE(client.lines.wants_to_join("key", at(0ms)));
  client.join(call, at(0ms));
  CHECK(client.lines.wants_to_join("key", at(0ms)));
  client.answer(client.gate(), "stand", place_reply(1, 2), at(1ms));
  client.lines.leave(call);
  client.advance(at(2ms));
  client.answer(client.gate(), "leave", place_reply(-1, 1), at(3ms));
  CHECK(client.lines.wants_to_join("key", at(1126ms)));
  CHECK_FALSE(client.lines.wants_to_join("key", at(1127ms)));
  CHECK(client.lines.timer() == at(1127ms));
  client.advance(at(1127ms));
  CHECK(client.lines.empty());
  CHECK(client.lines.timer() == redlock::core::never);
}

TEST_CASE("a_warning_shows_why_a_server_refuses_the_line_escaped") {
  StandingClient client{3};
  client.lines.warn_of_refusal({NodeStatus::no_permission, "NOPERM \x1b[2J"});
  const std::string warning = client.lines.take_warning().value();
  CHECK(
      warning.starts_with("calls cannot stand in line and poll instead: NOPERM \\x1b[2J; grant the rights"));
}

TEST_CASE("a_warning_about_a_key_of_another_type_advises_to_delete_the_keys_of_the_line") {
  StandingClient client{3};
  client.lines.warn_of_refusal({NodeStatus::wrong_type, "WRONGTYPE a string"});
  CHECK(client.lines.take_warning() ==
        "calls cannot stand in line and poll instead: WRONGTYPE a string; delete the keys redlock:q?:* and "
        "redlock:q?t:* that have this lock's name, unless another program uses them");
}

TEST_CASE("each_reason_for_a_refusal_is_given_once") {
  StandingClient client{3};
  const redlock::core::Trouble other_type{NodeStatus::wrong_type, "WRONGTYPE a string"};
  client.lines.warn_of_refusal(other_type);
  CHECK(client.lines.take_warning());
  client.lines.warn_of_refusal(other_type);
  CHECK_FALSE(client.lines.take_warning());
  client.lines.warn_of_refusal({NodeStatus::no_permission, "NOPERM no permissions"});
  CHECK(client.lines.take_warning());
}

TEST_CASE("a_warning_about_a_refusal_for_another_reason_advises_nothing") {
  StandingClient client{3};
  client.lines.warn_of_refusal({NodeStatus::read_only, "READONLY a replica"});
  CHECK(client.lines.take_warning() == "calls cannot stand in line and poll instead: READONLY a replica");
}

TEST_CASE("a_call_that_finds_no_memory_for_a_line_does_not_stand_there") {
  bool has_memory = false;
  for (int successes = 0; !has_memory; ++successes) {
    StandingClient client{3};
    TestWaiter call{at(0ms)};
    has_memory = succeeds_with(successes, [&] { client.lines.join(call); });
    CAPTURE(successes);
    client.lines.leave(call);
    CHECK(client.lines.waited_for() == 0);
    TestWaiter next{at(1ms)};
    client.join(next, at(1ms));
    CHECK(client.lines.waited_for() == 1);
    CHECK_FALSE(client.sent().empty());
  }
}
