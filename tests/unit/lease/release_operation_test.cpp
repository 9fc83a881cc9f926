// Every outcome of every node, compared with a plain statement of what a release has to tell.
#include "redlock/core/lease/release_operation.hpp"

#include <algorithm>
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
using redlock::Loss;
using redlock::NodeStatus;
using redlock::Release;

enum : Step { released, released_again = released | by_source };

enum class Fate { deleted, gone, in_error, lost, late, refused, other_type, unknown_script };
const std::vector<Fate> all_fates{Fate::deleted, Fate::gone,    Fate::in_error,   Fate::lost,
                                  Fate::late,    Fate::refused, Fate::other_type, Fate::unknown_script};

std::string name(Fate fate) {
  static const char* const names[] = {"deleted", "gone",    "error",      "lost",
                                      "late",    "refused", "other-type", "unknown-script"};
  return names[static_cast<std::size_t>(fate)];
}

std::size_t news(Fate fate) {
  if (fate == Fate::late || fate == Fate::refused) return 0;
  return fate == Fate::unknown_script ? 2 : 1;
}

const std::string release_command = example_claim().release_command();
const std::string release_by_source_command = example_claim().release_command(Form::source);

/// What a release has to tell, from one letter per node: `?` nothing known yet, `d`eleted, `g`one, `-` will
/// never be known. Empty: it is too early to tell.
std::string_view verdict_of(const std::string& known) {
  const auto count = [&known](char letter) { return std::count(known.begin(), known.end(), letter); };
  const auto nodes = static_cast<std::ptrdiff_t>(known.size());
  const auto majority = nodes / 2 + 1;
  // Where this many have lost our value, no majority can have held it.
  const auto minority_left = nodes - majority + 1;
  if (count('d') >= majority) return "released";
  if (count('g') >= minority_left) return "already lost";
  const bool may_be_released = count('d') + count('?') >= majority;
  const bool may_be_lost = count('g') + count('?') >= minority_left;
  return may_be_released || may_be_lost ? "" : "unknown";
}

std::string_view told(const ReleaseOperation& release_operation) {
  if (!release_operation.done()) return "";
  if (release_operation.outcome() == Release::released) return "released";
  return release_operation.outcome() == Release::already_lost ? "already lost" : "unknown";
}

std::string complaint_about(const Scenario<Fate>& scenario) {
  const std::size_t nodes = scenario.fates.size();
  RecordingOutbox outbox{nodes};
  ReleaseOperation release_operation{example_lease(988ms), nodes};
  std::string known(nodes, '?');
  std::string_view expected;
  std::string complaint;
  std::size_t sent_whole = 0;
  // Formats nothing unless something is wrong: there are more than a hundred thousand scenarios.
  const auto compare = [&](const char* event, std::optional<NodeIndex> which = std::nullopt) {
    // The first verdict stands.
    if (expected.empty()) expected = verdict_of(known);
    const std::string_view verdict = told(release_operation);
    if (verdict == expected || !complaint.empty()) return;
    complaint = told(scenario, name) + ": after " + event + (which ? std::to_string(*which) : "");
    complaint.append(" '").append(verdict).append("' instead of '").append(expected).append("'");
  };

  for (NodeIndex node = 0; node < nodes; ++node)
    if (scenario.fates[node] == Fate::refused) {
      outbox.refuse(node);
      known[node] = '-';
    }
  release_operation.start(at(0ms), outbox);
  compare("the start");
  std::vector<int> heard(nodes, 0);
  for (const NodeIndex node : scenario.arrivals) {
    const Fate fate = scenario.fates[node];
    if (fate == Fate::lost) {
      known[node] = '-';
      release_operation.disconnected(node, lost_connection(), at(1ms), outbox);
    } else if (fate == Fate::unknown_script && heard[node]++ == 0) {
      release_operation.answered(node, released, noscript(), at(1ms), outbox);
      ++sent_whole;
    } else if (fate == Fate::unknown_script) {
      known[node] = 'd';
      release_operation.answered(node, released_again, number(1), at(1ms), outbox);
    } else {
      known[node] = fate == Fate::deleted ? 'd' : fate == Fate::in_error ? '-' : 'g';
      const Reply reply = fate == Fate::in_error     ? loading()
                          : fate == Fate::other_type ? wrongtype()
                                                     : number(fate == Fate::deleted ? 1 : 0);
      release_operation.answered(node, released, reply, at(1ms), outbox);
    }
    compare("news of node ", node);
  }
  std::replace(known.begin(), known.end(), '?', '-');
  release_operation.timed_out(at(50ms), outbox);
  compare("the deadline");
  for (NodeIndex node = 0; node < nodes; ++node)
    if (scenario.fates[node] == Fate::late)
      release_operation.answered(node, released, number(1), at(60ms), outbox);
  compare("the late answers");
  if (complaint.empty() && expected.empty()) complaint = told(scenario, name) + ": no verdict";

  // Each node is sent one release, and the script where it did not know it; no more.
  std::vector<int> by_digest(nodes, 0);
  const std::vector<int> one_each(nodes, 1);
  std::size_t by_source = 0;
  for (const Sent& sent : outbox.sent()) {
    by_digest[sent.node] += sent.command == release_command ? 1 : 0;
    by_source += sent.command == release_by_source_command ? 1 : 0;
  }
  if (complaint.empty() &&
      (by_digest != one_each || by_source != sent_whole || outbox.sent().size() != nodes + sent_whole))
    complaint = told(scenario, name) + ": other commands were sent";
  return complaint;
}

/// All scenarios of five nodes in which the last one has this fate. All fates in one test case would take minutes
/// under a sanitizer on a busy machine.
void explore_five(Fate fate_of_the_last) {
  CHECK(explore_with_last(fate_of_the_last, 5, all_fates, news, complaint_about) == orders_of_many * 4'096);
}

}  // namespace

TEST_CASE("a_release_of_up_to_three_nodes_is_decided_as_early_as_possible") {
  CHECK(explore(1, all_fates, news, complaint_about) == 8);
  CHECK(explore(2, all_fates, news, complaint_about) > 64);
  CHECK(explore(3, all_fates, news, complaint_about) > 512);
}

// Each of the eight fates of the last node.

TEST_CASE("a_release_of_five_nodes_is_decided_as_early_as_possible_if_the_last_deletes") {
  explore_five(Fate::deleted);
}

TEST_CASE("a_release_of_five_nodes_is_decided_as_early_as_possible_if_the_last_has_no_copy") {
  explore_five(Fate::gone);
}

TEST_CASE("a_release_of_five_nodes_is_decided_as_early_as_possible_if_the_last_answers_with_an_error") {
  explore_five(Fate::in_error);
}

TEST_CASE("a_release_of_five_nodes_is_decided_as_early_as_possible_if_the_last_disconnects") {
  explore_five(Fate::lost);
}

TEST_CASE("a_release_of_five_nodes_is_decided_as_early_as_possible_if_the_last_answers_late") {
  explore_five(Fate::late);
}

TEST_CASE("a_release_of_five_nodes_is_decided_as_early_as_possible_if_the_last_is_unreachable") {
  explore_five(Fate::refused);
}

TEST_CASE("a_release_of_five_nodes_is_decided_as_early_as_possible_if_the_last_has_another_type") {
  explore_five(Fate::other_type);
}

TEST_CASE("a_release_of_five_nodes_is_decided_as_early_as_possible_if_the_last_does_not_know_the_script") {
  explore_five(Fate::unknown_script);
}

TEST_CASE("releases_are_owed_for_one_ttl_even_to_unreachable_nodes") {
  RecordingOutbox outbox{3};
  outbox.refuse(1);
  ReleaseOperation release_operation{example_lease(988ms), 3};
  CHECK(release_operation.connections_wanted(3) == 0);
  release_operation.start(at(10ms), outbox);
  CHECK(release_operation.deadline() == at(60ms));
  REQUIRE(outbox.sent().size() == 3);
  for (const Sent& sent : outbox.sent()) {
    CHECK(sent.options.is_release);
    CHECK(sent.options.send_by == at(1010ms));
  }
  CHECK(release_operation.tally()[1].trouble.status == NodeStatus::unreachable);
}

TEST_CASE("a_release_at_or_after_the_deadline_is_too_late_whatever_it_deletes") {
  for (const Span past : {Span{-1}, Span{0}}) {
    RecordingOutbox outbox{1};
    ReleaseOperation release_operation{example_lease(988ms), 1};
    release_operation.start(at(988ms) + past, outbox);
    CHECK(outbox.sent().size() == 1);
    CHECK_FALSE(release_operation.done());
    release_operation.answered(0, released, number(1), at(989ms), outbox);
    REQUIRE(release_operation.done());
    CHECK(release_operation.outcome() == (past < Span::zero() ? Release::released : Release::already_lost));
  }
}

TEST_CASE("a_lost_lease_whose_lock_has_a_delay_releases_nothing") {
  redlock::core::Claim delayed = example_claim();
  delayed.lock_delay = 500ms;
  const auto lease = example_lease(988ms, delayed);
  Span when = 988ms;
  std::size_t sent = 0;
  SECTION("after its deadline") {}
  SECTION("after it was taken") {
    lease->lose(Loss::taken, at(10ms));
    when = 11ms;
  }
  SECTION("but one that is in force does") {
    when = 987ms;
    sent = 1;
  }
  SECTION("and one that no caller has seen") {
    lease->was_used = false;
    sent = 1;
  }
  SECTION("and one whose client was shut down") {
    lease->lose(Loss::shut_down, at(10ms));
    when = 11ms;
    sent = 1;
  }
  SECTION("but not after the deadline") { lease->lose(Loss::shut_down, at(10ms)); }
  RecordingOutbox outbox{1};
  ReleaseOperation release_operation{lease, 1};
  release_operation.start(at(when), outbox);
  CHECK(outbox.sent().size() == sent);
  CHECK(release_operation.done() == (sent == 0));
  if (sent == 0) CHECK(release_operation.outcome() == Release::already_lost);
  if (sent == 1) CHECK(outbox.sent()[0].options.send_by == at(when + 1500ms));
}

TEST_CASE("a_lock_with_a_minimum_time_is_kept_until_then_by_whatever_releases_it") {
  redlock::core::Claim claim = example_claim();
  claim.kept_until = at(400ms);
  const auto kept_for = [&](std::string_view left, Form form = Form::digest) {
    return release_script.call({"key"}, {"me", left}, form);
  };
  const auto lease = example_lease(988ms, claim);
  Span when = 100ms + 1us;
  std::string sent = kept_for("300");
  SECTION("in time") {}
  SECTION("for whole milliseconds, rounded up") {
    when = 400ms - 1ns;
    sent = kept_for("1");
  }
  SECTION("but not afterwards") {
    when = 400ms;
    sent = release_command;
  }
  SECTION("after a loss as well") { lease->lose(Loss::shut_down, at(10ms)); }
  SECTION("but not if no caller has seen it") {
    lease->was_used = false;
    sent = release_command;
  }
  RecordingOutbox outbox{1};
  ReleaseOperation release_operation{lease, 1};
  release_operation.start(at(when), outbox);
  REQUIRE(outbox.sent().size() == 1);
  CHECK(outbox.sent()[0].command == sent);
  // Whoever waits for the lock in this client is told only if it is free.
  CHECK(outbox.released_keys.empty() == (sent != release_command));
}

TEST_CASE("a_node_that_does_not_know_the_script_keeps_the_lock_for_the_time_that_is_left_then") {
  redlock::core::Claim claim = example_claim();
  claim.kept_until = at(400ms);
  RecordingOutbox outbox{1};
  ReleaseOperation release_operation{example_lease(988ms, claim), 1};
  release_operation.start(at(100ms), outbox);
  outbox.take();
  release_operation.answered(0, released, noscript(), at(150ms), outbox);
  REQUIRE(outbox.sent().size() == 1);
  CHECK(outbox.sent()[0].command == release_script.call({"key"}, {"me", "250"}, Form::source));
}

TEST_CASE("a_script_that_stays_unknown_is_not_resent_forever") {
  RecordingOutbox outbox{1};
  ReleaseOperation release_operation{example_lease(988ms), 1};
  release_operation.start(at(0ms), outbox);
  release_operation.answered(0, released, noscript(), at(1ms), outbox);
  release_operation.answered(0, released_again, noscript(), at(2ms), outbox);
  REQUIRE(release_operation.done());
  CHECK(release_operation.outcome() == Release::unknown);
  CHECK(outbox.sent().size() == 2);
}

TEST_CASE("an_unknown_script_is_sent_as_source_even_after_the_release_is_decided") {
  RecordingOutbox outbox{1};
  ReleaseOperation release_operation{example_lease(988ms), 1};
  release_operation.start(at(0ms), outbox);
  release_operation.abandon(redlock::Errc::cancelled, at(1ms), outbox);
  REQUIRE(release_operation.done());
  CHECK(release_operation.outcome() == Release::unknown);
  outbox.take();
  release_operation.answered(0, released, noscript(), at(2ms), outbox);
  REQUIRE(outbox.sent().size() == 1);
  CHECK(outbox.sent()[0].command == example_claim().release_command(Form::source));
  CHECK(outbox.sent()[0].options.is_release);
}

TEST_CASE("a_deletion_still_counts_after_its_connection_was_lost") {
  RecordingOutbox outbox{3};
  ReleaseOperation release_operation{example_lease(988ms), 3};
  release_operation.start(at(0ms), outbox);
  release_operation.answered(0, released, number(1), at(1ms), outbox);
  release_operation.disconnected(0, lost_connection(), at(2ms), outbox);
  release_operation.answered(1, released, number(1), at(3ms), outbox);
  REQUIRE(release_operation.done());
  CHECK(release_operation.outcome() == Release::released);
}

TEST_CASE("a_release_does_not_wait_for_a_script_that_cannot_be_resent") {
  RecordingOutbox outbox{1};
  ReleaseOperation release_operation{example_lease(988ms), 1};
  release_operation.start(at(0ms), outbox);
  outbox.refuse(0, NodeStatus::overloaded);
  release_operation.answered(0, released, noscript(), at(1ms), outbox);
  REQUIRE(release_operation.done());
  CHECK(release_operation.outcome() == Release::unknown);
  CHECK(release_operation.tally()[0].trouble.status == NodeStatus::overloaded);
}
