// Details of attempts that the enumeration does not cover: bytes, options, times, and late replies.
#include <chrono>
#include <string>
#include <vector>

#include "redlock/core/lock/acquisition.hpp"
#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"
#include "unit/support/steps.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::testing::acquisition_steps;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;
using redlock::NodeStatus;
using Purpose = Acquisition::Purpose;

/// An attempt at three nodes that has sent its three SET commands.
struct Started {
  explicit Started(Purpose purpose = Purpose::try_once) : attempt{example_claim(), 3, purpose}, outbox{3} {
    attempt.start(at(0ms), outbox);
    first = outbox.take();
  }
  void answer(NodeIndex node, Step step, const Reply& reply, Span after = 5ms) {
    attempt.answered(node, step, reply, at(after), outbox);
  }
  void two_deny() {
    answer(0, asked, nil());
    answer(1, asked, nil());
    outbox.take();
  }

  Acquisition attempt;
  RecordingOutbox outbox;
  std::vector<Sent> first;
};

std::size_t releases(const std::vector<Sent>& sent, NodeIndex node) {
  std::size_t count = 0;
  for (const Sent& one : sent)
    count += one.node == node && one.command == example_claim().release_command() ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("the_first_command_is_set_nx_px_and_is_not_sent_after_the_deadline") {
  const Started started;
  CHECK(started.attempt.deadline() == at(50ms));
  REQUIRE(started.first.size() == 3);
  for (NodeIndex node = 0; node < 3; ++node) {
    const Sent& sent = started.first[node];
    CHECK(sent.node == node);
    CHECK(sent.command ==
          "*6\r\n$3\r\nSET\r\n$3\r\nkey\r\n$2\r\nme\r\n$2\r\nNX\r\n$2\r\nPX\r\n$4\r\n1000\r\n");
    CHECK(sent.options.send_by == at(50ms));
    CHECK_FALSE(sent.options.is_release);
  }
}

TEST_CASE("a_failed_waiting_attempt_asks_the_denying_nodes_for_the_ttl_and_releases_everywhere") {
  Started started{Purpose::wait};
  started.answer(2, asked, nil());
  CHECK(started.outbox.sent().empty());
  started.answer(0, asked, nil());
  const std::vector<Sent> sent = started.outbox.take();
  REQUIRE(sent.size() == 5);
  const NodeIndex to[] = {0, 0, 1, 2, 2};
  const Step steps[] = {timed, released, released, timed, released};
  const std::string release =
      "*5\r\n$7\r\nEVALSHA\r\n$40\r\n9ee6a596e3054fe5b11192d5c1e12c867bcfad4b\r\n$1\r\n1\r\n$3\r\nkey\r\n$"
      "2\r\nme\r\n";
  for (std::size_t i = 0; i < sent.size(); ++i) {
    CHECK(sent[i].node == to[i]);
    CHECK(sent[i].options.step == steps[i]);
    CHECK(sent[i].command == (steps[i] == timed ? "*2\r\n$4\r\nPTTL\r\n$3\r\nkey\r\n" : release));
    CHECK(sent[i].options.is_release == (steps[i] == released));
    CHECK(sent[i].options.send_by == (steps[i] == timed ? at(50ms) : at(1005ms)));
  }
}

TEST_CASE("the_holders_remaining_ttl_is_recorded_where_it_is_known") {
  Started started{Purpose::wait};
  for (NodeIndex node = 0; node < 3; ++node) started.answer(node, asked, nil());
  started.answer(0, timed, number(700));
  started.answer(1, timed, number(-2));
  started.answer(2, timed, loading());
  CHECK(started.attempt.tally()[0].ttl == 700ms);
  CHECK_FALSE(started.attempt.tally()[1].ttl);
  CHECK_FALSE(started.attempt.tally()[2].ttl);
}

TEST_CASE("the_validity_counts_from_the_start_minus_the_drift") {
  Started started;
  started.answer(0, asked, ok(), 20ms);
  started.answer(1, asked, ok(), 40ms);
  REQUIRE(started.attempt.granted());
  CHECK(started.attempt.begun() == at(0ms));
  CHECK(started.attempt.valid_until() == at(988ms));
}

TEST_CASE("a_majority_is_too_slow_as_soon_as_no_validity_is_left") {
  for (const Span late : {Span{-1}, Span{0}, Span{1}}) {
    Started started;
    started.answer(0, asked, ok(), 1ms);
    // The process was paused: the reply arrived in time, but is read only now.
    started.answer(1, asked, ok(), 988ms + late);
    REQUIRE(started.attempt.done());
    CHECK(started.attempt.granted() == (late < Span::zero()));
    if (late < Span::zero()) {
      CHECK(started.outbox.sent().empty());
      continue;
    }
    CHECK(started.attempt.failure() == Errc::too_slow);
    REQUIRE(started.outbox.sent().size() == 3);
    for (NodeIndex node = 0; node < 3; ++node) CHECK(releases(started.outbox.sent(), node) == 1);
  }
}

TEST_CASE("a_reply_that_is_read_after_the_deadline_but_before_the_timeout_counts") {
  Started started;
  started.answer(0, asked, ok(), 60ms);
  started.answer(1, asked, ok(), 60ms);
  CHECK(started.attempt.granted());
}

TEST_CASE("late_replies_change_nothing_after_a_grant") {
  Started started;
  started.answer(0, asked, ok());
  started.answer(1, asked, ok());
  started.answer(2, asked, ok(), 2000ms);
  started.attempt.disconnected(0, lost_connection(), at(2000ms), started.outbox);
  started.attempt.timed_out(at(2000ms), started.outbox);
  started.attempt.abandon(Errc::cancelled, at(2000ms), started.outbox);
  CHECK(started.attempt.granted());
  CHECK(started.outbox.sent().empty());
}

TEST_CASE("two_grants_of_three_do_not_count_when_one_connection_was_lost_between_them") {
  Started started;
  started.answer(0, asked, ok());
  started.attempt.disconnected(0, lost_connection(), at(6ms), started.outbox);
  started.answer(1, asked, ok());
  CHECK_FALSE(started.attempt.done());
  started.answer(2, asked, ok());
  CHECK(started.attempt.granted());
  CHECK(started.attempt.tally()[0].trouble.status == NodeStatus::connection_lost);
}

TEST_CASE("a_denial_whose_connection_was_replaced_is_explained_by_the_release_on_the_new_one") {
  Started started;
  started.answer(0, asked, nil());
  started.attempt.disconnected(0, lost_connection(), at(6ms), started.outbox);
  started.answer(1, asked, nil());
  started.answer(1, released, number(0));
  CHECK_FALSE(started.attempt.done());
  started.answer(0, released, number(0));
  CHECK(started.attempt.failure() == Errc::held);
}

TEST_CASE("an_unknown_script_is_sent_as_source_and_no_set_follows_a_release") {
  Started started;
  started.two_deny();
  started.answer(0, released, noscript());
  const std::vector<Sent> sent = started.outbox.take();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].node == 0);
  CHECK(sent[0].command == release_script.call({"key"}, {"me"}, Form::source));
  CHECK(sent[0].options.is_release);
  started.answer(1, released, number(0));
  CHECK_FALSE(started.attempt.done());
  started.answer(0, sent[0].options.step, number(0));
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::held);
}

TEST_CASE("an_attempt_does_not_wait_for_a_script_that_stays_unknown_or_cannot_be_resent") {
  Started started;
  started.two_deny();
  started.answer(0, released, noscript());
  started.answer(0, released_again, noscript());
  started.outbox.refuse(1, NodeStatus::overloaded);
  CHECK_FALSE(started.attempt.done());
  started.answer(1, released, noscript());
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::held);
  CHECK(started.outbox.sent().size() == 2);
}

TEST_CASE("an_unknown_script_is_sent_as_source_even_after_the_attempt_is_abandoned") {
  Started started;
  started.attempt.abandon(Errc::cancelled, at(5ms), started.outbox);
  started.outbox.take();
  started.answer(1, released, noscript(), 3s);
  REQUIRE(started.outbox.sent().size() == 1);
  CHECK(started.outbox.sent()[0].command == release_script.call({"key"}, {"me"}, Form::source));
}

TEST_CASE("a_key_of_another_type_counts_as_held_on_a_minority_and_as_misconfigured_on_a_majority") {
  Started started;
  for (NodeIndex node = 0; node < 3; ++node) started.answer(node, asked, nil());
  started.answer(0, released, wrongtype());
  CHECK_FALSE(started.attempt.done());
  started.answer(1, released, number(0));
  const bool majority = GENERATE(false, true);
  started.answer(2, released, majority ? wrongtype() : number(0));
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == (majority ? Errc::misconfigured : Errc::held));
  CHECK(started.attempt.tally()[0].trouble.status == NodeStatus::wrong_type);
}

TEST_CASE("a_release_that_fails_for_another_reason_leaves_the_denial_unchanged") {
  Started started;
  started.two_deny();
  started.answer(0, released, error_reply("MISCONF Errors writing to the AOF file"));
  started.answer(1, released, loading());
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::held);
}

TEST_CASE("one_server_under_two_names_of_three_does_not_end_the_attempt") {
  Started started;
  started.attempt.disconnected(2, {NodeStatus::same_node, "the same server"}, at(1ms), started.outbox);
  CHECK_FALSE(started.attempt.done());
  for (const NodeIndex node : {0U, 1U}) started.attempt.answered(node, asked, ok(), at(2ms), started.outbox);
  CHECK(started.attempt.granted());
}

TEST_CASE("one_server_under_three_names_of_three_ends_the_attempt_at_once") {
  Started started;
  for (const NodeIndex node : {1U, 2U})
    started.attempt.disconnected(node, {NodeStatus::same_node, "the same server"}, at(1ms), started.outbox);
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::misconfigured);
  for (NodeIndex node = 0; node < 3; ++node) CHECK(releases(started.outbox.sent(), node) == 1);
}

TEST_CASE("an_attempt_abandoned_before_its_start_undoes_nothing") {
  Acquisition attempt{example_claim(), 3, Purpose::wait};
  RecordingOutbox outbox{3};
  attempt.abandon(Errc::timed_out, at(0ms), outbox);
  REQUIRE(attempt.done());
  CHECK(attempt.failure() == Errc::timed_out);
  CHECK(outbox.sent().empty());
}

TEST_CASE("an_attempt_abandoned_later_is_undone_once_on_every_node") {
  for (const bool denied : {false, true}) {
    Started started;
    started.answer(2, asked, ok());
    if (denied) started.answer(0, asked, nil());
    if (denied) started.answer(1, asked, nil());
    started.attempt.abandon(Errc::cancelled, at(10ms), started.outbox);
    started.attempt.abandon(Errc::timed_out, at(11ms), started.outbox);
    started.answer(0, asked, ok(), 12ms);
    REQUIRE(started.attempt.done());
    CHECK(started.attempt.failure() == Errc::cancelled);
    for (NodeIndex node = 0; node < 3; ++node) CHECK(releases(started.outbox.sent(), node) == 1);
    CHECK(started.outbox.sent().size() == 3);
  }
}

TEST_CASE("a_reply_that_is_neither_ok_nor_nil_is_no_vote") {
  Started started;
  started.answer(0, asked, number(1));
  started.answer(1, asked, string_reply("OK"));
  CHECK_FALSE(started.attempt.done());  // no quorum is possible, but the report is not complete
  started.answer(2, asked, ok());
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::no_quorum);
  CHECK(started.attempt.tally().is(2, Tally::Mark::yes));
  CHECK(started.attempt.tally()[0].trouble.status == NodeStatus::protocol_error);
}

TEST_CASE("a_minimum_time_begins_with_the_attempt_and_an_attempt_that_fails_leaves_nothing") {
  redlock::core::Claim claim = example_claim();
  claim.at_least = 300ms;
  RecordingOutbox outbox{1};
  Acquisition granted{redlock::core::Claim{claim}, 1, Acquisition::Purpose::try_once};
  granted.start(at(7ms), outbox);
  granted.answered(0, asked, ok(), at(50ms), outbox);
  REQUIRE(granted.granted());
  CHECK(granted.take_claim().kept_until == at(307ms));
  outbox.take();
  Acquisition denied{std::move(claim), 1, Acquisition::Purpose::try_once};
  denied.start(at(7ms), outbox);
  outbox.take();
  denied.answered(0, asked, nil(), at(8ms), outbox);
  REQUIRE(outbox.sent().size() == 1);
  CHECK(outbox.sent()[0].command == release_script.call({"key"}, {"me"}));
}
