// Attempts in which nodes refuse a fencing token because it is too far ahead of their clocks.
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

constexpr long long far = 9'007'199'254'740'990;

struct Started : StartedAttempt {
  using StartedAttempt::StartedAttempt;
  void refuse(NodeIndex node) { answer(node, confirmed, number(-1)); }
  /// The node and command of each command sent since the last call.
  std::vector<std::pair<NodeIndex, std::string>> sent() {
    std::vector<std::pair<NodeIndex, std::string>> list;
    for (const Sent& sent : outbox.take()) list.emplace_back(sent.node, sent.command);
    return list;
  }
};

std::vector<std::pair<NodeIndex, std::string>> confirmation(NodeIndex node, std::uint64_t granted,
                                                            std::uint64_t token) {
  return {{node, example_fenced_claim().confirm_command(granted, token)}};
}

}  // namespace

TEST_CASE("a_node_whose_counter_the_others_refuse_is_left_out") {
  Started started{3};
  started.grant(0, 7);
  started.grant(1, far);
  CHECK(started.sent() == confirmation(0, 7, far));
  const bool late = GENERATE(false, true);
  if (late) started.refuse(0);
  CHECK_FALSE(started.attempt.done());
  started.grant(2, 9);
  CHECK(started.sent() == confirmation(2, 9, far));
  started.refuse(2);
  if (!late) started.refuse(0);
  CHECK_FALSE(started.attempt.done());
  CHECK(started.sent() == confirmation(0, 7, 9));
  CHECK(started.attempt.tally()[1].trouble.status == NodeStatus::bad_counter);
  started.answer(0, confirmed, number(1));
  REQUIRE(started.attempt.granted());
  CHECK(started.attempt.take_claim().token == 9);
}

TEST_CASE("an_agreement_of_the_other_nodes_takes_no_further_round") {
  Started started{3};
  started.grant(1, far);
  started.grant(0, 9);
  started.refuse(0);
  started.grant(2, 9);
  started.refuse(2);
  REQUIRE(started.attempt.granted());
  CHECK(started.attempt.take_claim().token == 9);
}

TEST_CASE("a_node_that_refuses_a_token_alone_has_no_say") {
  Started started{3};
  started.grant(0, 7);
  started.grant(1, 9);
  started.refuse(0);
  CHECK_FALSE(started.attempt.done());
  started.grant(2, 8);
  started.answer(2, confirmed, number(1));
  REQUIRE(started.attempt.granted());
  CHECK(started.attempt.take_claim().token == 9);
}

TEST_CASE("grants_that_are_still_to_come_may_replace_the_node_that_is_left_out") {
  Started started{5};
  started.grant(0, far);
  started.grant(1, 7);
  started.grant(2, 8);
  started.answer(3, asked, loading());
  started.refuse(1);
  CHECK_FALSE(started.attempt.done());
  started.refuse(2);
  CHECK_FALSE(started.attempt.done());
  started.sent();
  started.grant(4, 8);
  CHECK(started.sent() == confirmation(1, 7, 8));
  started.answer(1, confirmed, number(1));
  REQUIRE(started.attempt.granted());
  CHECK(started.attempt.take_claim().token == 8);
}

TEST_CASE("a_node_that_confirmed_the_token_has_no_part_in_a_smaller_one") {
  Started started{5};
  started.grant(0, far);
  started.grant(1, 7);
  started.grant(2, 8);
  started.answer(1, confirmed, number(1));
  started.refuse(2);
  started.grant(3, 8);
  started.refuse(3);
  started.grant(4, 8);
  CHECK_FALSE(started.attempt.done());
  started.refuse(4);
  REQUIRE(started.attempt.granted());  // by nodes 2 to 4
  CHECK(started.attempt.take_claim().token == 8);
  CHECK(started.attempt.tally()[1].trouble.status == NodeStatus::bad_counter);
}

TEST_CASE("a_confirmation_under_way_does_not_count_for_a_smaller_token") {
  Started started{5};
  started.grant(0, far);
  started.grant(1, 7);
  started.grant(2, 7);
  started.grant(3, 7);  // its confirmation is under way
  started.refuse(1);
  started.answer(4, asked, loading());
  started.sent();
  started.refuse(2);
  CHECK(started.sent().empty());  // it decides
  CHECK_FALSE(started.attempt.done());
  started.answer(3, confirmed, number(1));
  CHECK(started.sent().size() == 5);  // the releases
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::no_quorum);
}

TEST_CASE("the_last_of_a_majority_that_refuses_a_token_decides_although_another_node_is_held") {
  Started started{5};
  started.grant(0, far);
  for (const NodeIndex node : {1U, 2U, 3U}) started.grant(node, 7);
  started.answer(4, asked, array_reply({string_reply("other"), number(700)}));
  for (const NodeIndex node : {1U, 2U}) started.refuse(node);
  CHECK_FALSE(started.attempt.done());
  started.refuse(3);
  REQUIRE(started.attempt.granted());
  CHECK(started.attempt.take_claim().token == 7);
}

TEST_CASE("after_a_token_was_given_up_its_confirmation_is_not_sent_again") {
  Started started{7};
  started.grant(0, far);
  for (const NodeIndex node : {1U, 2U, 3U, 4U}) started.grant(node, 7);
  for (const NodeIndex node : {1U, 2U, 3U}) started.refuse(node);
  started.sent();
  started.answer(5, asked, loading());  // only a grant of node 6 can still make a majority
  CHECK_FALSE(started.attempt.done());
  started.answer(4, confirmed, noscript());
  CHECK(started.sent().empty());
  started.grant(6, 7);
  REQUIRE(started.attempt.granted());
  CHECK(started.attempt.take_claim().token == 7);
}

TEST_CASE("a_refusal_of_a_lost_connection_does_not_count") {
  Started started{3};
  started.grant(0, 7);
  started.grant(1, far);
  started.refuse(0);
  started.attempt.disconnected(0, lost_connection(), at(6ms), started.outbox);
  started.grant(2, 7);
  started.refuse(2);
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::no_quorum);
}

TEST_CASE("a_refused_token_without_a_majority_of_other_nodes_is_reported") {
  Started started{3};
  started.answer(2, asked, loading());
  started.grant(1, far);
  started.grant(0, 7);
  started.refuse(0);
  REQUIRE(started.attempt.done());
  CHECK(started.attempt.failure() == Errc::no_quorum);
  CHECK(started.attempt.tally()[0].trouble.status == NodeStatus::bad_counter);
  CHECK(started.attempt.tally()[0].trouble.message ==
        "the fencing token 9007199254740990 is too far ahead of this node's clock");
}
