// Which events an observer gets.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/engine/engine.hpp"
#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "support/catch.hpp"
#include "support/recording_observer.hpp"
#include "unit/support/fleet.hpp"
#include "unit/support/recorder.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;
using redlock::NodeStatus;
using redlock::Observer;
using NodeState = Observer::NodeState;

/// An engine with connected nodes and an observer.
struct Story {
  explicit Story(std::size_t nodes) : fleet{nodes, std::nullopt, &recorder} { fleet.make_ready(at(0ms)); }

  void submit(Claim claim, Time now, Time give_up_at = never) {
    const Ref<Operation> attempt{
        new Acquisition{std::move(claim), fleet.engine.nodes(), Acquisition::Purpose::try_once}};
    attempt->give_up_at = give_up_at;
    fleet.engine.submit(attempt, now);
  }
  void answer(NodeIndex node, const Reply& reply, Time now) { fleet.engine.answered(node, reply, now); }

  RecordingObserver recorder;
  Fleet fleet;
};

/// `ready`, `down: unreachable`, `ready again`, …
std::vector<std::string> states(const RecordingObserver& recorder) {
  std::vector<std::string> texts;
  for (const Observer::Node& change : recorder.nodes()) {
    std::string text{to_string(change.state)};
    if (change.trouble) text.append(": ").append(to_string(*change.trouble));
    if (change.reconnected) text += " again";
    texts.push_back(text);
  }
  return texts;
}

}  // namespace

// ── attempts ───────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("an_attempt_is_reported_once_with_its_outcome_and_duration") {
  Story story{3};
  story.submit(example_claim(), at(10ms));
  story.answer(0, ok(), at(12ms));
  CHECK(story.recorder.attempts().empty());
  story.answer(1, ok(), at(15ms));
  story.answer(2, ok(), at(20ms));
  REQUIRE(story.recorder.attempts().size() == 1);
  const Observer::Attempt told = story.recorder.attempts()[0];
  CHECK(told.resource == "key");
  CHECK_FALSE(told.failure);
  CHECK(told.took == 5ms);
  CHECK_FALSE(told.second_round);
}

TEST_CASE("a_failed_attempt_is_reported_with_its_reason") {
  Story story{3};
  story.submit(example_claim(), at(0ms));
  story.fleet.engine.on_time(at(50ms));
  REQUIRE(story.recorder.attempts().size() == 1);
  CHECK(story.recorder.attempts()[0].failure == Errc::no_quorum);
  CHECK(story.recorder.attempts()[0].took == 50ms);
}

TEST_CASE("a_second_round_is_reported_with_its_attempt") {
  Story story{3};
  story.submit(example_fenced_claim(), at(0ms));
  story.answer(0, number(107), at(1ms));
  story.answer(1, number(100), at(2ms));
  story.answer(1, number(1), at(4ms));
  REQUIRE(story.recorder.attempts().size() == 1);
  CHECK_FALSE(story.recorder.attempts()[0].failure);
  CHECK(story.recorder.attempts()[0].second_round);
  CHECK(story.recorder.attempts()[0].took == 4ms);
}

TEST_CASE("an_attempt_that_never_began_is_not_reported") {
  RecordingObserver recorder;
  Fleet fleet{3, std::nullopt, &recorder};
  const Ref<Operation> attempt{new Acquisition{example_claim(), 3, Acquisition::Purpose::wait}};
  attempt->give_up_at = at(20ms);
  fleet.engine.submit(attempt, at(0ms));
  fleet.engine.on_time(at(20ms));
  CHECK(attempt->done());
  CHECK(recorder.attempts().empty());
}

// ── extensions ─────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_renewal_is_reported_with_its_lateness") {
  Story story{1};
  const auto lease = example_tenure(988ms);
  story.fleet.engine.keep(lease, at(0ms));
  const Time due = story.fleet.engine.background_timer();
  story.fleet.engine.on_time(due + 3ms);
  CHECK(story.recorder.extensions().empty());
  story.answer(0, number(1), due + 5ms);
  REQUIRE(story.recorder.extensions().size() == 1);
  const Observer::Extension told = story.recorder.extensions()[0];
  CHECK(told.resource == "key");
  CHECK(told.state == redlock::State::held);
  CHECK(told.took == 2ms);
  CHECK(told.late == 3ms);
}

TEST_CASE("a_manual_extension_is_never_reported_as_late") {
  const auto [answer, state] = GENERATE(table<std::int64_t, redlock::State>(
      {{1, redlock::State::held}, {0, redlock::State::lost}, {-1, redlock::State::lost}}));
  Story story{1};
  story.fleet.engine.submit(Ref<Operation>{new Extension{example_tenure(988ms), 1}}, at(10ms));
  story.answer(0, number(answer), at(11ms));
  REQUIRE(story.recorder.extensions().size() == 1);
  CHECK(story.recorder.extensions()[0].state == state);
  CHECK(story.recorder.extensions()[0].took == 1ms);
  CHECK_FALSE(story.recorder.extensions()[0].late);
}

TEST_CASE("an_extension_without_a_majority_is_reported_in_doubt") {
  Story story{3};
  story.fleet.engine.submit(Ref<Operation>{new Extension{example_tenure(988ms), 3}}, at(10ms));
  story.answer(0, number(1), at(11ms));
  story.fleet.engine.on_time(at(60ms));
  REQUIRE(story.recorder.extensions().size() == 1);
  CHECK(story.recorder.extensions()[0].state == redlock::State::in_doubt);
  CHECK(story.recorder.extensions()[0].took == 50ms);
}

// ── nodes ──────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_connection_is_reported_when_it_starts_and_when_it_is_ready") {
  RecordingObserver recorder;
  Fleet fleet{1, std::nullopt, &recorder};
  fleet.make_ready(at(0ms));
  CHECK(states(recorder) == std::vector<std::string>{"connecting", "ready"});
  CHECK(recorder.nodes()[0].node == "node 0");
  CHECK(recorder.nodes()[1].message.empty());
}

TEST_CASE("a_broken_connection_and_its_replacement_are_both_reported") {
  Story story{1};
  story.fleet.lose(0, at(5s));
  story.fleet.greet(0, at(6s));
  CHECK(states(story.recorder) ==
        std::vector<std::string>{"connecting", "ready", "connecting: connection lost", "ready again"});
  CHECK(story.recorder.nodes()[2].message == "reset by peer");
}

TEST_CASE("a_node_that_stays_down_for_the_same_reason_is_reported_once") {
  RecordingObserver recorder;
  Fleet fleet{1, std::nullopt, &recorder};
  fleet.submit({.nodes = 1, .connections = 1}, at(0ms));
  const auto fail = [&](NodeStatus why) {
    fleet.engine.on_time(fleet.engine.session(0).timer());
    fleet.engine.disconnected(0, {why, "no"}, fleet.engine.session(0).timer());
  };
  fleet.engine.disconnected(0, {NodeStatus::unreachable, "no"}, at(1ms));
  for (int i = 0; i < 10; ++i) fail(NodeStatus::unreachable);
  CHECK(states(recorder) == std::vector<std::string>{"connecting", "down: unreachable"});
  fail(NodeStatus::protocol_error);
  fail(NodeStatus::protocol_error);
  fleet.engine.on_time(fleet.engine.session(0).timer());
  fleet.greet(0, at(1h));
  CHECK(states(recorder) ==
        std::vector<std::string>{"connecting", "down: unreachable", "down: protocol error", "ready"});
}

TEST_CASE("a_server_under_two_names_is_reported_down_under_the_second_name_and_never_ready") {
  RecordingObserver recorder;
  Fleet fleet{2, std::nullopt, &recorder};
  fleet.submit({.nodes = 2, .connections = 2}, at(0ms));
  fleet.greet(0, at(1ms), "one run");
  fleet.greet(1, at(2ms), "one run");
  CHECK(states(recorder) == std::vector<std::string>{"connecting", "connecting", "ready", "down: same node"});
  CHECK(recorder.nodes()[3].node == "node 1");
}

TEST_CASE("a_node_is_reported_barred_until_it_may_vote") {
  Fleet fleet{1};
  fleet.make_ready(at(0ms));
  const Session& session = fleet.engine.session(0);
  RecordingObserver recorder;
  NodeChanges changes{&recorder, 1};
  const Trouble bar{NodeStatus::server_error, "for a while"};
  changes.check(0, session, &bar);
  changes.check(0, session, &bar);
  changes.check(0, session);
  changes.check(0, session, &bar);
  changes.check(0, session);
  CHECK(states(recorder) ==
        std::vector<std::string>{"barred: server error", "ready", "barred: server error", "ready"});
  CHECK(recorder.nodes()[0].message == "for a while");
}
