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
#include "unit/support/engine_harness.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;
using redlock::NodeStatus;
using redlock::Observer;
using NodeState = Observer::NodeState;

/// An engine with connected nodes and an observer.
struct ObservedEngine {
  explicit ObservedEngine(std::size_t nodes) : harness{nodes, std::nullopt, &recorder} {
    harness.make_ready(at(0ms));
  }

  void submit(Claim claim, Time now, Time give_up_at = never) {
    const Ref<Operation> attempt{
        new Acquisition{std::move(claim), harness.engine.nodes(), Acquisition::Purpose::try_once}};
    attempt->give_up_at = give_up_at;
    harness.engine.submit(attempt, now);
  }
  void answer(NodeIndex node, const Reply& reply, Time now) { harness.engine.answered(node, reply, now); }

  RecordingObserver recorder;
  EngineHarness harness;
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
  ObservedEngine observed{3};
  observed.submit(example_claim(), at(10ms));
  observed.answer(0, ok(), at(12ms));
  CHECK(observed.recorder.attempts().empty());
  observed.answer(1, ok(), at(15ms));
  observed.answer(2, ok(), at(20ms));
  REQUIRE(observed.recorder.attempts().size() == 1);
  const Observer::Attempt event = observed.recorder.attempts()[0];
  CHECK(event.resource == "key");
  CHECK_FALSE(event.failure);
  CHECK(event.took == 5ms);
  CHECK_FALSE(event.second_round);
}

TEST_CASE("a_failed_attempt_is_reported_with_its_reason") {
  ObservedEngine observed{3};
  observed.submit(example_claim(), at(0ms));
  observed.harness.engine.on_time(at(50ms));
  REQUIRE(observed.recorder.attempts().size() == 1);
  CHECK(observed.recorder.attempts()[0].failure == Errc::no_quorum);
  CHECK(observed.recorder.attempts()[0].took == 50ms);
}

TEST_CASE("a_second_round_is_reported_with_its_attempt") {
  ObservedEngine observed{3};
  observed.submit(example_fenced_claim(), at(0ms));
  observed.answer(0, number(107), at(1ms));
  observed.answer(1, number(100), at(2ms));
  observed.answer(1, number(1), at(4ms));
  REQUIRE(observed.recorder.attempts().size() == 1);
  CHECK_FALSE(observed.recorder.attempts()[0].failure);
  CHECK(observed.recorder.attempts()[0].second_round);
  CHECK(observed.recorder.attempts()[0].took == 4ms);
}

TEST_CASE("an_attempt_that_never_began_is_not_reported") {
  RecordingObserver recorder;
  EngineHarness harness{3, std::nullopt, &recorder};
  const Ref<Operation> attempt{new Acquisition{example_claim(), 3, Acquisition::Purpose::wait}};
  attempt->give_up_at = at(20ms);
  harness.engine.submit(attempt, at(0ms));
  harness.engine.on_time(at(20ms));
  CHECK(attempt->done());
  CHECK(recorder.attempts().empty());
}

// ── extensions ─────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_renewal_is_reported_with_its_lateness") {
  ObservedEngine observed{1};
  const auto lease = example_lease(988ms);
  observed.harness.engine.keep(lease, at(0ms));
  const Time due = observed.harness.engine.background_timer();
  observed.harness.engine.on_time(due + 3ms);
  CHECK(observed.recorder.extensions().empty());
  observed.answer(0, number(1), due + 5ms);
  REQUIRE(observed.recorder.extensions().size() == 1);
  const Observer::Extension event = observed.recorder.extensions()[0];
  CHECK(event.resource == "key");
  CHECK(event.state == redlock::State::held);
  CHECK(event.took == 2ms);
  CHECK(event.late == 3ms);
}

TEST_CASE("a_manual_extension_is_never_reported_as_late") {
  const auto [answer, state] = GENERATE(table<std::int64_t, redlock::State>(
      {{1, redlock::State::held}, {0, redlock::State::lost}, {-1, redlock::State::lost}}));
  ObservedEngine observed{1};
  observed.harness.engine.submit(Ref<Operation>{new Extension{example_lease(988ms), 1}}, at(10ms));
  observed.answer(0, number(answer), at(11ms));
  REQUIRE(observed.recorder.extensions().size() == 1);
  CHECK(observed.recorder.extensions()[0].state == state);
  CHECK(observed.recorder.extensions()[0].took == 1ms);
  CHECK_FALSE(observed.recorder.extensions()[0].late);
}

TEST_CASE("an_extension_without_a_majority_is_reported_in_doubt") {
  ObservedEngine observed{3};
  observed.harness.engine.submit(Ref<Operation>{new Extension{example_lease(988ms), 3}}, at(10ms));
  observed.answer(0, number(1), at(11ms));
  observed.harness.engine.on_time(at(60ms));
  REQUIRE(observed.recorder.extensions().size() == 1);
  CHECK(observed.recorder.extensions()[0].state == redlock::State::in_doubt);
  CHECK(observed.recorder.extensions()[0].took == 50ms);
}

// ── nodes ──────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_connection_is_reported_when_it_starts_and_when_it_is_ready") {
  RecordingObserver recorder;
  EngineHarness harness{1, std::nullopt, &recorder};
  harness.make_ready(at(0ms));
  CHECK(states(recorder) == std::vector<std::string>{"connecting", "ready"});
  CHECK(recorder.nodes()[0].node == "node 0");
  CHECK(recorder.nodes()[1].message.empty());
}

TEST_CASE("a_broken_connection_and_its_replacement_are_both_reported") {
  ObservedEngine observed{1};
  observed.harness.disconnect(0, at(5s));
  observed.harness.connect(0, at(6s));
  CHECK(states(observed.recorder) ==
        std::vector<std::string>{"connecting", "ready", "connecting: connection lost", "ready again"});
  CHECK(observed.recorder.nodes()[2].message == "reset by peer");
}

TEST_CASE("the_message_about_a_node_is_printable") {
  RecordingObserver recorder;
  EngineHarness harness{1, std::nullopt, &recorder};
  harness.submit({.nodes = 1, .connections = 1}, at(0ms));
  const std::string rest(300, 'x');
  harness.engine.disconnected(0, {NodeStatus::unreachable, "\x1b[2J\n" + rest}, at(1ms));
  REQUIRE(recorder.nodes().size() == 2);
  CHECK(recorder.nodes()[1].message == "\\x1b[2J\\x0a" + rest);
}

TEST_CASE("a_node_that_stays_down_for_the_same_reason_is_reported_once") {
  RecordingObserver recorder;
  EngineHarness harness{1, std::nullopt, &recorder};
  harness.submit({.nodes = 1, .connections = 1}, at(0ms));
  const auto fail = [&](NodeStatus why) {
    harness.engine.on_time(harness.engine.session(0).timer());
    harness.engine.disconnected(0, {why, "no"}, harness.engine.session(0).timer());
  };
  harness.engine.disconnected(0, {NodeStatus::unreachable, "no"}, at(1ms));
  for (int i = 0; i < 10; ++i) fail(NodeStatus::unreachable);
  CHECK(states(recorder) == std::vector<std::string>{"connecting", "down: unreachable"});
  fail(NodeStatus::protocol_error);
  fail(NodeStatus::protocol_error);
  harness.engine.on_time(harness.engine.session(0).timer());
  harness.connect(0, at(1h));
  CHECK(states(recorder) ==
        std::vector<std::string>{"connecting", "down: unreachable", "down: protocol error", "ready"});
}

TEST_CASE("a_server_under_two_names_is_reported_down_under_the_second_name_and_never_ready") {
  RecordingObserver recorder;
  EngineHarness harness{2, std::nullopt, &recorder};
  harness.submit({.nodes = 2, .connections = 2}, at(0ms));
  harness.connect(0, at(1ms), "one run");
  harness.connect(1, at(2ms), "one run");
  CHECK(states(recorder) == std::vector<std::string>{"connecting", "connecting", "ready", "down: same node"});
  CHECK(recorder.nodes()[3].node == "node 1");
}

TEST_CASE("a_node_is_reported_barred_until_it_may_vote") {
  EngineHarness harness{1};
  harness.make_ready(at(0ms));
  const Session& session = harness.engine.session(0);
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
