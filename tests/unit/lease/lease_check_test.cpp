// Whether somebody else's lease is held, in every order of answers.
#include "redlock/core/lease/lease_check.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/enumeration.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using State = redlock::SequencerState;

constexpr Step last{};

const std::string id = "0123456789abcdef";
/// The owner value of the attempt with this number, of one call.
std::string owner_of_attempt(int attempt) {
  return id + std::string(23, '0') + std::to_string(attempt) + " web3 @1";
}
const std::string of_somebody_else = "1123456789abcdef" + std::string(24, '0') + " web4 @1";

enum class Fate { ours, of_an_earlier_attempt, of_others, free, in_error, lost, late, refused };
const std::vector<Fate> all_fates{Fate::ours,      Fate::of_an_earlier_attempt,
                                  Fate::of_others, Fate::free,
                                  Fate::in_error,  Fate::lost,
                                  Fate::late,      Fate::refused};

std::string name(Fate fate) {
  static const char* const names[] = {"ours",  "earlier", "others", "free",
                                      "error", "lost",    "late",   "refused"};
  return names[static_cast<std::size_t>(fate)];
}
std::size_t news(Fate fate) { return fate == Fate::late || fate == Fate::refused ? 0 : 1; }
std::string value_of(Fate fate) {
  if (fate == Fate::ours) return owner_of_attempt(2);
  if (fate == Fate::of_an_earlier_attempt) return owner_of_attempt(1);
  return fate == Fate::of_others ? of_somebody_else : "";
}

/// What follows from the nodes with these fates, whatever the others say.
State state_of(const std::vector<Fate>& known, std::size_t nodes) {
  const auto count = [&](Fate fate) {
    return static_cast<std::size_t>(std::count(known.begin(), known.end(), fate));
  };
  if (std::max(count(Fate::ours), count(Fate::of_an_earlier_attempt)) >= quorum(nodes)) return State::valid;
  return count(Fate::of_others) + count(Fate::free) > nodes - quorum(nodes) ? State::stale : State::unknown;
}

/// A check is done when a majority has shown the lease, or when nothing is missing; not sooner and not later.
std::string complaint_about(const Scenario<Fate>& scenario) {
  const std::size_t nodes = scenario.fates.size();
  RecordingOutbox outbox{nodes};
  LeaseCheck check{{"key", id}, nodes, 50ms};
  std::size_t missing = nodes;
  for (NodeIndex node = 0; node < nodes; ++node)
    if (scenario.fates[node] == Fate::refused) outbox.refuse(node), --missing;
  check.start(at(0ms), outbox);
  std::vector<Fate> known;
  if (check.done() != (missing == 0))
    return told(scenario, name) + ": done too early or too late at the start";
  for (const NodeIndex node : scenario.arrivals) {
    const bool is_decided = check.done();
    const Fate fate = scenario.fates[node];
    if (fate == Fate::lost)
      check.disconnected(node, lost_connection(), at(1ms), outbox);
    else
      check.answered(node, last, fate == Fate::in_error ? loading() : string_reply(value_of(fate)), at(1ms),
                     outbox);
    --missing;
    if (is_decided) continue;
    known.push_back(fate);
    const State expected = state_of(known, nodes);
    if (check.state() != expected) return told(scenario, name) + ": wrong before the end";
    if (check.done() != (expected == State::valid || missing == 0))
      return told(scenario, name) + ": done too early or too late";
  }
  check.timed_out(at(50ms), outbox);
  if (!check.done() || check.state() != state_of(known, nodes))
    return told(scenario, name) + ": wrong at the end";
  return {};
}

}  // namespace

TEST_CASE("a_check_of_up_to_four_nodes_ends_when_a_majority_shows_the_lease_or_all_have_answered") {
  for (const std::size_t nodes : {1U, 2U, 3U, 4U})
    CHECK(explore(nodes, all_fates, news, complaint_about) > 0);
}

TEST_CASE("a_check_of_five_nodes_ends_when_a_majority_shows_the_lease_or_all_have_answered") {
  const std::vector<Fate> some{Fate::ours, Fate::of_an_earlier_attempt, Fate::free, Fate::in_error,
                               Fate::late};
  CHECK(explore(5, some, news, complaint_about) == orders_of_many * 3'125);
}

TEST_CASE("two_of_five_nodes_cannot_make_a_lease_valid_or_stale") {
  for (const std::string& lie : {owner_of_attempt(1), std::string{}}) {
    RecordingOutbox outbox{5};
    LeaseCheck check{{"key", id}, 5, 50ms};
    check.start(at(0ms), outbox);
    for (const NodeIndex node : {0U, 1U}) check.answered(node, last, string_reply(lie), at(1ms), outbox);
    check.timed_out(at(50ms), outbox);
    CHECK(check.done());
    CHECK(check.state() == State::unknown);
  }
}

TEST_CASE("a_check_asks_each_node_one_question") {
  const std::string questions[] = {
      command({"GETRANGE", "key", "0", "1023"}),
      command({"EVAL", reader_source, "1", "key", "redlock:s:{key}", id}),
  };
  for (const bool is_shared : {false, true}) {
    RecordingOutbox outbox{2};
    LeaseCheck check{{"key", id, is_shared}, 2, 50ms};
    CHECK(check.connections_wanted(2) == 2);
    check.start(at(0ms), outbox);
    CHECK(check.deadline() == at(50ms));
    REQUIRE(outbox.sent().size() == 2);
    for (const Sent& sent : outbox.sent()) {
      CHECK(sent.options.send_by == at(50ms));
      CHECK_FALSE(sent.options.is_release);
      CHECK(sent.command == questions[is_shared ? 1 : 0]);
    }
  }
}

TEST_CASE("an_unexpected_answer_to_a_check_is_no_vote") {
  for (const Reply& reply : {wrongtype(), number(1), nil(), ok()}) {
    RecordingOutbox outbox{1};
    LeaseCheck check{{"key", id}, 1, 50ms};
    check.start(at(0ms), outbox);
    check.answered(0, last, reply, at(1ms), outbox);
    CHECK(check.done());
    CHECK(check.state() == State::unknown);
  }
}

TEST_CASE("what_arrives_after_a_check_changes_nothing") {
  RecordingOutbox outbox{3};
  LeaseCheck check{{"key", id}, 3, 50ms};
  check.start(at(0ms), outbox);
  check.answered(0, last, string_reply(owner_of_attempt(1)), at(1ms), outbox);
  check.abandon(redlock::Errc::cancelled, at(2ms), outbox);
  REQUIRE(check.done());
  check.answered(1, last, string_reply(owner_of_attempt(1)), at(3ms), outbox);
  check.disconnected(0, lost_connection(), at(3ms), outbox);
  check.timed_out(at(50ms), outbox);
  CHECK(check.state() == State::unknown);
}
