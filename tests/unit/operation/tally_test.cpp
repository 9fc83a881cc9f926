#include "redlock/core/operation/tally.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::NodeStatus;
using Mark = Tally::Mark;

constexpr Mark all_marks[] = {Mark::pending, Mark::yes, Mark::no, Mark::unknown};

/// Every vector of marks for this number of nodes.
std::vector<std::vector<Mark>> all_vectors(std::size_t nodes) {
  std::vector<std::vector<Mark>> vectors{{}};
  for (std::size_t node = 0; node < nodes; ++node) {
    std::vector<std::vector<Mark>> longer;
    for (const auto& vector : vectors)
      for (const Mark mark : all_marks) {
        longer.push_back(vector);
        longer.back().push_back(mark);
      }
    vectors = std::move(longer);
  }
  return vectors;
}

/// Whether some or all combinations of votes of the pending nodes lead to a majority for `mark`.
struct Outlook {
  bool some = false;
  bool every = true;
};
Outlook outlook(std::vector<Mark> marks, Mark mark) {
  const auto pending = std::find(marks.begin(), marks.end(), Mark::pending);
  if (pending == marks.end()) {
    const auto count = static_cast<std::size_t>(std::count(marks.begin(), marks.end(), mark));
    const bool majority = 2 * count > marks.size();
    return {majority, majority};
  }
  Outlook all;
  for (const Mark answer : {Mark::yes, Mark::no, Mark::unknown}) {
    *pending = answer;
    const Outlook one = outlook(marks, mark);
    all.some = all.some || one.some;
    all.every = all.every && one.every;
  }
  return all;
}

Tally tally_of(const std::vector<Mark>& marks) {
  Tally tally{marks.size()};
  for (NodeIndex node = 0; node < marks.size(); ++node)
    if (marks[node] != Mark::pending) tally.mark(node, marks[node]);
  return tally;
}

}  // namespace

TEST_CASE("any_two_majorities_of_the_configured_nodes_share_a_node") {
  for (std::size_t nodes = 1; nodes <= 100; ++nodes) {
    CAPTURE(nodes);
    CHECK(2 * quorum(nodes) > nodes);
    CHECK(2 * (quorum(nodes) - 1) <= nodes);
    CHECK(quorum(nodes) + tolerated(nodes) == nodes);
  }
}

TEST_CASE("a_tally_knows_which_majorities_are_certain_or_possible") {
  for (std::size_t nodes = 1; nodes <= 5; ++nodes)
    for (const auto& marks : all_vectors(nodes)) {
      const Tally tally = tally_of(marks);
      for (const Mark mark : {Mark::yes, Mark::no, Mark::unknown}) {
        const Outlook expected = outlook(marks, mark);
        if (tally.majority(mark) != expected.every || tally.majority_possible(mark) != expected.some)
          FAIL("wrong about a majority of " << nodes);
        // Prevents a majority: the other nodes are no majority, even if they agree.
        const auto count = static_cast<std::size_t>(std::count(marks.begin(), marks.end(), mark));
        if (tally.prevents_majority(mark) != (2 * (nodes - count) <= nodes)) FAIL("wrong about " << nodes);
        if (tally.count(mark) != count) FAIL("miscounted");
      }
    }
}

TEST_CASE("the_latest_vote_of_a_node_counts") {
  Tally tally{3};
  tally.mark(0, Mark::yes);
  tally.mark(0, Mark::unknown, lost_connection());
  CHECK(tally.count(Mark::yes) == 0);
  CHECK(tally.count(Mark::unknown) == 1);
  CHECK(tally.votes() == 0);
  CHECK(tally[0].trouble.status == NodeStatus::connection_lost);
  tally.mark(1, Vote{Vote::Kind::yes, {}});
  tally.mark(2, Vote{Vote::Kind::no, {}});
  CHECK(tally.votes() == 2);
  tally.mark(2, Vote{Vote::Kind::unknown, {NodeStatus::loading, "LOADING"}});
  CHECK(tally.votes() == 1);
  CHECK(tally[2].trouble.message == "LOADING");
}

TEST_CASE("closing_a_tally_changes_only_the_pending_nodes") {
  Tally tally = tally_of({Mark::pending, Mark::yes, Mark::no, Mark::unknown, Mark::pending});
  tally.close(no_answer_within(50ms));
  CHECK(tally.count(Mark::pending) == 0);
  CHECK(tally.count(Mark::unknown) == 3);
  CHECK(tally[0].trouble.status == NodeStatus::timed_out);
  CHECK(tally[0].trouble.message == "no answer within 50 ms");
  CHECK(tally[3].trouble.status != NodeStatus::timed_out);
}

TEST_CASE("the_duration_in_a_timeout_message_is_rounded_up") {
  CHECK(no_answer_within(1us).message == "no answer within 1 ms");
  CHECK(no_answer_within(250ms).message == "no answer within 250 ms");
}

TEST_CASE("a_majority_of_misconfigured_nodes_is_hopeless_and_a_minority_is_not") {
  for (std::size_t nodes : {1U, 3U, 5U})
    for (std::size_t bad = 0; bad <= nodes; ++bad) {
      CAPTURE(nodes, bad);
      Tally tally{nodes};
      for (NodeIndex node = 0; node < nodes; ++node)
        tally.mark(node, Mark::unknown, {node < bad ? NodeStatus::no_permission : NodeStatus::loading, ""});
      CHECK(tally.misconfigured() == bad);
      CHECK(tally.is_hopeless() == (2 * bad > nodes));
    }
}

TEST_CASE("further_names_of_servers_are_hopeless_if_they_leave_too_few_servers_for_a_majority") {
  const std::size_t nodes = GENERATE(2U, 3U, 4U, 5U);
  Tally tally{nodes};
  for (NodeIndex node = 0; node < nodes; ++node) {
    CHECK(tally.is_hopeless() == (nodes - node < quorum(nodes)));
    tally.mark(node, Mark::unknown, {NodeStatus::same_node, "the same server"});
  }
}

TEST_CASE("validity_is_the_ttl_minus_the_drift_and_never_overflows") {
  CHECK(valid_until(at(0ms), 1000ms, 12ms) == at(988ms));
  CHECK(valid_until(at(0ms), 10ms, 12ms) == at(-2ms));
  CHECK(valid_until(at(0ms), Span::max(), 0ms) == never);
  CHECK(later(never, 1ns) == never);
  CHECK(later(never - 1ns, 1ns) == never);
  CHECK(later(never - 2ns, 1ns) == never - 1ns);
  CHECK(later(at(5ms), -3ms) == at(2ms));
}
