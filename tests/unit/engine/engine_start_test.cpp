// When an operation starts: at once, or after a wait for connections that are being made for the first time.
#include <string>

#include "redlock/core/engine/engine.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "redlock/core/lock/inspection.hpp"
#include "support/catch.hpp"
#include "unit/support/engine_harness.hpp"

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;

TEST_CASE("the_first_operation_waits_for_a_majority_and_then_as_long_again_for_the_others") {
  EngineHarness harness{5};
  const auto operation = harness.submit({.nodes = 5, .connections = 3}, at(0ms));
  harness.connect(3, at(5ms));
  harness.connect(1, at(10ms));
  CHECK(harness.engine.timer() == at(500ms));
  harness.connect(4, at(20ms));
  CHECK(operation->events.empty());
  CHECK(harness.engine.timer() == at(40ms));
  harness.engine.on_time(at(40ms) - 1ns);
  CHECK(operation->events.empty());
  harness.engine.on_time(at(40ms));
  CHECK(operation->events == Events{"start"});
  CHECK(harness.take_bytes(1) == "PING");
  // A node that connects later gets the command as soon as it is ready.
  harness.connect(0, at(60ms));
  CHECK(harness.take_bytes(0) == "PING");
  harness.connect(2, at(90ms));
  CHECK(harness.take_bytes(2).empty());
}

TEST_CASE("a_command_past_its_deadline_is_not_sent_on_a_new_connection") {
  EngineHarness harness{3};
  harness.submit({}, at(0ms));
  harness.connect(0, at(10ms));
  harness.connect(1, at(10ms));
  harness.engine.on_time(at(20ms));
  harness.connect(2, at(70ms));
  CHECK(harness.take_bytes(2).empty());
}

TEST_CASE("an_operation_starts_as_soon_as_every_node_is_connected_or_has_failed") {
  const bool hopeless = GENERATE(false, true);
  EngineHarness harness{3};
  const auto operation = harness.submit({}, at(0ms));
  harness.connect(0, at(10ms));
  harness.connect(1, at(20ms));
  CHECK(operation->events.empty());
  if (hopeless)
    harness.disconnect(2, at(25ms));
  else
    harness.connect(2, at(25ms));
  CHECK(operation->events == (hopeless ? Events{"start", "refused 2 connection lost"} : Events{"start"}));
  CHECK(operation->started_at == at(25ms));
}

TEST_CASE("an_operation_starts_as_soon_as_a_majority_is_impossible") {
  EngineHarness harness{3};
  const auto operation = harness.submit({}, at(0ms));
  harness.disconnect(0, at(1ms));
  CHECK(operation->events.empty());
  harness.disconnect(1, at(2ms));
  CHECK(operation->events == Events{"start", "refused 0 connection lost", "refused 1 connection lost"});
}

TEST_CASE("an_operation_waits_at_most_the_connect_timeout_for_connections") {
  EngineHarness harness{3};
  const auto operation = harness.submit({}, at(0ms));
  harness.connect(0, at(300ms));
  harness.connect(1, at(400ms));
  CHECK(harness.engine.timer() == at(500ms));
  harness.engine.on_time(at(500ms));
  CHECK(operation->events == Events{"start", "refused 2 timed out"});
}

TEST_CASE("an_operation_without_any_connection_starts_at_the_connect_timeout_and_every_node_refuses_it") {
  EngineHarness harness{3};
  const auto operation = harness.submit({}, at(0ms));
  harness.engine.on_time(at(500ms) - 1ns);
  CHECK(operation->events.empty());
  harness.engine.on_time(at(500ms));
  REQUIRE(operation->events.size() == 4);
  CHECK(operation->events[0] == "start");
  for (std::size_t i = 1; i < 4; ++i)
    CHECK_THAT(operation->events[i], contains(std::to_string(i - 1) + " timed out"));
}

TEST_CASE("an_operation_that_wants_no_connection_starts_at_once_and_its_commands_wait") {
  EngineHarness harness{3};
  const auto operation = harness.submit({.connections = 0}, at(0ms));
  CHECK(operation->events == Events{"start"});
  harness.connect(1, at(10ms));
  CHECK(harness.take_bytes(1) == "PING");
}

TEST_CASE("an_operation_starts_at_once_when_a_majority_is_connected") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  // Lost after more than a second: the connection is replaced at once, and commands wait for it.
  harness.disconnect(2, at(2s));
  REQUIRE(harness.engine.session(2).worth_waiting_for());
  const auto operation = harness.submit({}, at(2s));
  CHECK(operation->events == Events{"start"});
  CHECK(harness.take_bytes(0) == "PING");
  harness.connect(2, at(2s + 1ms));
  CHECK(harness.take_bytes(2) == "PING");
}

TEST_CASE("a_redial_after_a_failure_delays_no_operation") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  for (const NodeIndex node : {0U, 1U}) harness.disconnect(node, at(1ms));
  harness.engine.on_time(at(60ms));
  REQUIRE(harness.engine.session(0).is_dialling());
  const auto operation = harness.submit({}, at(60ms));
  CHECK(operation->events == Events{"start", "refused 0 connection lost", "refused 1 connection lost"});
}

TEST_CASE("a_later_operation_counts_its_wait_from_its_own_submission") {
  EngineHarness harness{3};
  harness.submit({}, at(0ms));
  harness.connect(0, at(10ms));
  const auto second = harness.submit({}, at(12ms));
  harness.connect(1, at(20ms));
  harness.engine.on_time(at(28ms) - 1ns);
  CHECK(second->events.empty());
  harness.engine.on_time(at(28ms));
  CHECK(second->events == Events{"start"});
}

TEST_CASE("an_operation_given_up_before_its_start_finishes_without_starting") {
  EngineHarness harness{3};
  const auto impatient = harness.submit({}, at(0ms), at(30ms));
  const auto stopped = harness.submit({}, at(0ms));
  CHECK(harness.engine.timer() == at(30ms));
  harness.engine.on_time(at(30ms));
  CHECK(impatient->events == Events{"given up"});
  CHECK(harness.take_finished(impatient) == 1);
  harness.abandon(stopped, at(31ms));
  CHECK(stopped->events == Events{"abandoned"});
  CHECK(harness.take_finished(stopped) == 1);
  for (NodeIndex node = 0; node < 3; ++node) harness.connect(node, at(40ms));
  CHECK(impatient->events == Events{"given up"});
  CHECK(harness.take_bytes(0).empty());
}

TEST_CASE("validity_counts_from_the_end_of_the_wait_for_connections") {
  EngineHarness harness{3};
  const Ref<Acquisition> attempt{new Acquisition{example_claim(), 3, Acquisition::Purpose::try_once}};
  harness.engine.submit(Ref<Operation>{attempt.get()}, at(0ms));
  for (NodeIndex node = 0; node < 3; ++node) harness.connect(node, at(100ms));
  for (NodeIndex node = 0; node < 2; ++node) harness.engine.answered(node, ok(), at(120ms));
  REQUIRE(attempt->granted());
  CHECK(attempt->begun() == at(100ms));
  CHECK(attempt->valid_until() == at(1088ms));
}

TEST_CASE("an_inspection_waits_for_every_node_that_may_still_connect") {
  EngineHarness harness{3};
  const Ref<Inspection> look{new Inspection{"key", 3, 50ms}};
  harness.engine.submit(Ref<Operation>{look.get()}, at(0ms));
  harness.connect(0, at(1ms));
  harness.connect(1, at(2ms));
  harness.engine.on_time(at(100ms));
  CHECK(harness.take_bytes(0).empty());
  harness.disconnect(2, at(110ms));
  CHECK_THAT(harness.take_bytes(0), contains("PTTL"));
}
