// Attempts that lost to contenders, and attempts that lost to a holder.
#include <string>
#include <vector>

#include "redlock/core/operation/split_vote.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::core;

/// The votes of five nodes: "+" grants, "?" does not answer, and any other text is the owner that the node names.
Tally votes_of(const std::vector<std::string>& nodes) {
  Tally tally{nodes.size()};
  for (NodeIndex node = 0; node < nodes.size(); ++node) {
    const Tally::Mark refusal = nodes[node] == "?" ? Tally::Mark::unknown : Tally::Mark::no;
    tally.mark(node, nodes[node] == "+" ? Tally::Mark::yes : refusal);
    if (tally.is(node, Tally::Mark::no) && nodes[node] != "unnamed") tally[node].owner = nodes[node];
  }
  return tally;
}

}  // namespace

TEST_CASE("a_vote_is_split_if_some_nodes_grant_and_no_other_client_has_a_majority") {
  CHECK(SplitVote{}.note(votes_of({"+", "A", "A", "B", "?"})));
  CHECK(SplitVote{}.note(votes_of({"+", "unnamed", "unnamed", "unnamed", "?"})));
  CHECK_FALSE(SplitVote{}.note(votes_of({"+", "A", "A", "A", "?"})));
  CHECK_FALSE(SplitVote{}.note(votes_of({"A", "A", "B", "B", "?"})));
}

TEST_CASE("an_owner_that_stays_from_one_attempt_to_the_next_is_no_contender") {
  SplitVote vote;
  CHECK(vote.note(votes_of({"+", "A", "?", "A", "+"})));
  CHECK_FALSE(vote.note(votes_of({"+", "A", "?", "A", "+"})));
  CHECK_FALSE(vote.note(votes_of({"+", "+", "?", "A", "?"})));
  CHECK_FALSE(vote.note(votes_of({"+", "A", "?", "A", "?"})));
  CHECK(vote.note(votes_of({"+", "A", "?", "B", "+"})));  // a contender beside a copy that stays
  CHECK(vote.note(votes_of({"+", "A", "?", "C", "+"})));
  CHECK_FALSE(vote.note(votes_of({"+", "A", "?", "C", "+"})));
  CHECK(vote.note(votes_of({"+", "unnamed", "?", "unnamed", "unnamed"})));
  CHECK(vote.note(votes_of({"+", "unnamed", "?", "unnamed", "unnamed"})));  // nobody knows whether it stayed
}
