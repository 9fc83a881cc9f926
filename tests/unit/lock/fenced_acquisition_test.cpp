// Attempts with a fencing token: the differences from attempts without one.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/started_attempt.hpp"
#include "unit/support/steps.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::testing::acquisition_steps;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;
using redlock::NodeStatus;
using Purpose = Acquisition::Purpose;

Reply denial(std::string owner, long long ttl) {
  return array_reply({string_reply(std::move(owner)), number(ttl)});
}
Reply bad_counter() { return error_reply("BADCOUNTER redlock:f:{key} is not a number below 2^53-1"); }

struct Started : StartedAttempt {
  using StartedAttempt::StartedAttempt;
  /// The node and command of each confirmation sent since the last call; checks that nothing else was sent.
  std::vector<std::pair<NodeIndex, std::string>> confirmations() {
    std::vector<std::pair<NodeIndex, std::string>> list;
    for (const Sent& sent : outbox.take()) {
      CHECK(sent.options.step == confirmed);
      CHECK_FALSE(sent.options.is_release);
      list.emplace_back(sent.node, sent.command);
    }
    return list;
  }
};

std::string confirmation(const std::string& granted, const std::string& token) {
  return command(
      {"EVALSHA", confirm_script.sha1, "2", "key", "redlock:f:{key}", "me", granted, token, "86400000"});
}

}  // namespace

TEST_CASE("agreeing_counters_yield_the_token_with_one_command_per_node") {
  Started started{3};
  REQUIRE(started.first.size() == 3);
  for (const Sent& sent : started.first)
    CHECK(sent.command == command({"EVALSHA", grant_script.sha1, "2", "key", "redlock:f:{key}", "me", "1000",
                                   "100", "86400000", ""}));
  started.grant(0, 100);
  CHECK_FALSE(started.attempt.done());
  started.grant(2, 100);
  REQUIRE(started.attempt.granted());
  CHECK(started.outbox.sent().empty());
  CHECK(started.attempt.take_claim().token == 100);
}

TEST_CASE("the_token_is_the_greatest_of_the_first_majority_and_the_others_confirm_it") {
  Started started{5};
  started.grant(0, 7);
  started.grant(1, 9);
  started.grant(2, 8);
  CHECK_FALSE(started.attempt.done());
  CHECK(started.confirmations() == std::vector<std::pair<NodeIndex, std::string>>{
                                       {0, confirmation("7", "9")}, {2, confirmation("8", "9")}});
  started.answer(0, confirmed, number(1));
  CHECK_FALSE(started.attempt.done());
  started.answer(2, confirmed, number(1));
  REQUIRE(started.attempt.granted());
  CHECK(started.outbox.sent().empty());
  CHECK(started.attempt.take_claim().token == 9);
}

TEST_CASE("a_late_grant_counts_if_equal_is_confirmed_if_smaller_and_is_ignored_if_greater") {
  Started started{5};
  started.grant(0, 7);
  started.grant(1, 8);
  started.grant(2, 9);
  started.confirmations();
  started.grant(3, 10);
  CHECK(started.attempt.tally().is(3, Tally::Mark::no));
  CHECK(started.outbox.sent().empty());
  const bool agrees = GENERATE(true, false);
  started.grant(4, agrees ? 9 : 3);
  if (!agrees) {
    CHECK(started.confirmations() ==
          std::vector<std::pair<NodeIndex, std::string>>{{4, confirmation("3", "9")}});
    started.answer(4, confirmed, number(1));
  }
  CHECK_FALSE(started.attempt.done());
  started.answer(1, confirmed, number(1));
  REQUIRE(started.attempt.granted());
  CHECK(started.attempt.take_claim().token == 9);
}

TEST_CASE("an_attempt_without_a_majority_for_its_token_is_released_everywhere") {
  Started started{3};
  started.grant(0, 7);
  started.grant(1, 9);
  started.confirmations();
  started.answer(0, confirmed, number(0));
  CHECK_FALSE(started.attempt.done());
  const bool too_great = GENERATE(true, false);
  if (too_great)
    started.grant(2, 10);
  else
    started.answer(2, asked, denial("them", 700));
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::held);
  const std::vector<Sent> sent = started.outbox.take();
  REQUIRE(sent.size() == 3);
  for (const Sent& one : sent) CHECK(one.command == example_claim().release_command());
}

TEST_CASE("a_grant_whose_connection_breaks_before_its_confirmation_does_not_count") {
  Started started{3};
  started.grant(0, 7);
  started.grant(1, 9);
  started.confirmations();
  started.attempt.disconnected(0, lost_connection(), at(6ms), started.outbox);
  CHECK_FALSE(started.attempt.done());
  started.answer(2, asked, loading());
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::no_quorum);
}

TEST_CASE("an_acknowledgement_whose_connection_breaks_before_the_majority_does_not_count") {
  Started started{3};
  started.grant(0, 7);
  started.grant(1, 9);
  started.confirmations();
  started.attempt.disconnected(1, lost_connection(), at(6ms), started.outbox);
  started.answer(0, confirmed, number(1));
  CHECK_FALSE(started.attempt.done());
  started.grant(2, 9);
  CHECK(started.attempt.granted());
}

TEST_CASE("a_denial_names_the_holder_and_its_ttl_so_no_further_query_is_sent") {
  Started started{3, GENERATE(Purpose::try_once, Purpose::wait)};
  started.answer(0, asked, denial("them", 700));
  started.answer(1, asked, denial("for ever", -1));
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::held);
  const Tally& tally = started.attempt.tally();
  CHECK(tally[0].owner == "them");
  CHECK(tally[0].ttl == 700ms);
  CHECK(tally[1].owner == "for ever");
  CHECK_FALSE(tally[1].ttl);
  REQUIRE(started.outbox.sent().size() == 3);
  for (const Sent& sent : started.outbox.sent()) CHECK(sent.options.step == released);
}

TEST_CASE("an_invalid_counter_is_no_vote_and_on_a_majority_a_misconfiguration") {
  Started started{3};
  started.answer(0, asked, bad_counter());
  CHECK(started.attempt.tally()[0].trouble.status == NodeStatus::bad_counter);
  const bool majority = GENERATE(true, false);
  if (majority) {
    started.answer(1, asked, bad_counter());
    REQUIRE(started.attempt.done());
    CHECK(started.attempt.failure() == Errc::misconfigured);
  } else {
    started.grant(1, 100);
    started.grant(2, 100);
    CHECK(started.attempt.granted());
  }
}

TEST_CASE("the_second_round_has_its_own_node_timeout_within_the_validity") {
  Started started{3};
  started.answer(0, asked, number(7), 40ms);
  started.answer(1, asked, number(9), 49ms);
  CHECK(started.attempt.deadline() == at(99ms));
  for (const Sent& sent : started.outbox.take()) CHECK(sent.options.send_by == at(99ms));
  started.attempt.timed_out(at(99ms), started.outbox);
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::no_quorum);
}

TEST_CASE("validity_is_checked_after_the_second_round") {
  for (const Span late : {Span{-1}, Span{0}}) {
    Started started{3};
    started.grant(0, 7);
    started.grant(1, 9);
    started.answer(0, confirmed, number(1), 988ms + late);
    REQUIRE(started.attempt.done());
    CHECK(started.attempt.granted() == (late < Span::zero()));
    if (late >= Span::zero()) CHECK(started.attempt.failure() == Errc::too_slow);
  }
}

TEST_CASE("unknown_grant_and_confirm_scripts_are_sent_as_source_but_not_after_a_release") {
  Started started{3};
  const Claim claim = example_fenced_claim();
  started.answer(0, asked, noscript());
  started.grant(1, 9);
  started.answer(0, asked_again, number(7));
  std::vector<Sent> sent = started.outbox.take();
  REQUIRE(sent.size() == 2);
  CHECK(sent[0].command == claim.set_command(Form::source));
  CHECK(sent[1].command == claim.confirm_command(7, 9));
  started.answer(0, confirmed, noscript());
  sent = started.outbox.take();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].command == claim.confirm_command(7, 9, Form::source));
  started.attempt.abandon(Errc::cancelled, at(6ms), started.outbox);
  CHECK(started.outbox.take().size() == 3);
  started.answer(0, confirmed_again, number(1));
  started.answer(2, asked, noscript());
  CHECK(started.outbox.sent().empty());
  CHECK(started.attempt.failure() == Errc::cancelled);
}

TEST_CASE("a_grant_that_arrives_while_the_attempt_is_released_is_not_confirmed") {
  Started started{5};
  started.grant(0, 7);
  started.grant(1, 8);
  started.grant(2, 9);
  started.answer(0, confirmed, number(0));
  started.answer(1, confirmed, number(0));
  started.answer(3, asked, denial("them", 700));
  CHECK_FALSE(started.outbox.take().empty());  // the releases
  if (!started.attempt.done()) started.grant(4, 3);
  CHECK(started.outbox.sent().empty());
}

TEST_CASE("a_node_that_cannot_be_asked_again_has_no_vote_and_is_not_waited_for") {
  Started started{3};
  started.answer(1, asked, loading());
  const bool in_the_second_round = GENERATE(true, false);
  if (in_the_second_round) {
    started.grant(0, 7);
    started.grant(2, 9);
  }
  started.outbox.refuse(0, NodeStatus::overloaded);
  started.answer(0, in_the_second_round ? confirmed : asked, noscript());
  if (!in_the_second_round) started.grant(2, 9);
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::no_quorum);
}

TEST_CASE("a_node_whose_counter_moved_on_reports_it") {
  Started started{3};
  started.grant(0, 7);
  started.grant(1, 9);
  started.answer(0, confirmed, number(0));
  started.grant(2, 10);
  REQUIRE(started.attempt.done());
  for (const NodeIndex node : {0U, 2U})
    CHECK(started.attempt.tally()[node].trouble.message ==
          "the fencing counter changed while the nodes agreed on the token");
}

TEST_CASE("an_unexpected_reply_to_a_grant_is_no_vote") {
  const std::int64_t too_great = std::int64_t{1} << 53;
  for (const Reply& reply : {ok(), nil(), number(0), number(-1), number(too_great), string_reply("7")}) {
    Started started{1};
    started.answer(0, asked, reply);
    REQUIRE(started.attempt.done());
    CHECK(started.attempt.failure() == Errc::no_quorum);
    CHECK(started.attempt.tally()[0].trouble.status == NodeStatus::protocol_error);
  }
}
