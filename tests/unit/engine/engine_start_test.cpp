// When an operation starts: at once, or after a wait for connections that are being made for the first time.
#include <string>

#include "redlock/core/engine/engine.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "redlock/core/lock/inspection.hpp"
#include "support/catch.hpp"
#include "unit/support/fleet.hpp"

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;

TEST_CASE("the_first_operation_waits_for_a_majority_and_then_as_long_again_for_the_others") {
  Fleet fleet{5};
  const auto probe = fleet.submit({.nodes = 5, .connections = 3}, at(0ms));
  fleet.greet(3, at(5ms));
  fleet.greet(1, at(10ms));
  CHECK(fleet.engine.timer() == at(500ms));
  fleet.greet(4, at(20ms));
  CHECK(probe->told.empty());
  CHECK(fleet.engine.timer() == at(40ms));
  fleet.engine.on_time(at(40ms) - 1ns);
  CHECK(probe->told.empty());
  fleet.engine.on_time(at(40ms));
  CHECK(probe->told == Told{"start"});
  CHECK(fleet.take_bytes(1) == "PING");
  // A node that connects later gets the command as soon as it is ready.
  fleet.greet(0, at(60ms));
  CHECK(fleet.take_bytes(0) == "PING");
  fleet.greet(2, at(90ms));
  CHECK(fleet.take_bytes(2).empty());
}

TEST_CASE("a_command_past_its_deadline_is_not_sent_on_a_new_connection") {
  Fleet fleet{3};
  fleet.submit({}, at(0ms));
  fleet.greet(0, at(10ms));
  fleet.greet(1, at(10ms));
  fleet.engine.on_time(at(20ms));
  fleet.greet(2, at(70ms));
  CHECK(fleet.take_bytes(2).empty());
}

TEST_CASE("an_operation_starts_as_soon_as_every_node_is_connected_or_has_failed") {
  const bool hopeless = GENERATE(false, true);
  Fleet fleet{3};
  const auto probe = fleet.submit({}, at(0ms));
  fleet.greet(0, at(10ms));
  fleet.greet(1, at(20ms));
  CHECK(probe->told.empty());
  if (hopeless)
    fleet.lose(2, at(25ms));
  else
    fleet.greet(2, at(25ms));
  CHECK(probe->told == (hopeless ? Told{"start", "refused 2 connection lost"} : Told{"start"}));
  CHECK(probe->started_at == at(25ms));
}

TEST_CASE("an_operation_starts_as_soon_as_a_majority_is_impossible") {
  Fleet fleet{3};
  const auto probe = fleet.submit({}, at(0ms));
  fleet.lose(0, at(1ms));
  CHECK(probe->told.empty());
  fleet.lose(1, at(2ms));
  CHECK(probe->told == Told{"start", "refused 0 connection lost", "refused 1 connection lost"});
}

TEST_CASE("an_operation_waits_at_most_the_connect_timeout_for_connections") {
  Fleet fleet{3};
  const auto probe = fleet.submit({}, at(0ms));
  fleet.greet(0, at(300ms));
  fleet.greet(1, at(400ms));
  CHECK(fleet.engine.timer() == at(500ms));
  fleet.engine.on_time(at(500ms));
  CHECK(probe->told == Told{"start", "refused 2 timed out"});
}

TEST_CASE("an_operation_without_any_connection_starts_at_the_connect_timeout_and_every_node_refuses_it") {
  Fleet fleet{3};
  const auto probe = fleet.submit({}, at(0ms));
  fleet.engine.on_time(at(500ms) - 1ns);
  CHECK(probe->told.empty());
  fleet.engine.on_time(at(500ms));
  REQUIRE(probe->told.size() == 4);
  CHECK(probe->told[0] == "start");
  for (std::size_t i = 1; i < 4; ++i)
    CHECK_THAT(probe->told[i], contains(std::to_string(i - 1) + " timed out"));
}

TEST_CASE("an_operation_that_wants_no_connection_starts_at_once_and_its_commands_wait") {
  Fleet fleet{3};
  const auto probe = fleet.submit({.connections = 0}, at(0ms));
  CHECK(probe->told == Told{"start"});
  fleet.greet(1, at(10ms));
  CHECK(fleet.take_bytes(1) == "PING");
}

TEST_CASE("an_operation_starts_at_once_when_a_majority_is_connected") {
  Fleet fleet{3};
  fleet.make_ready(at(0ms));
  // Lost after more than a second: the connection is replaced at once, and commands wait for it.
  fleet.lose(2, at(2s));
  REQUIRE(fleet.engine.session(2).worth_waiting_for());
  const auto probe = fleet.submit({}, at(2s));
  CHECK(probe->told == Told{"start"});
  CHECK(fleet.take_bytes(0) == "PING");
  fleet.greet(2, at(2s + 1ms));
  CHECK(fleet.take_bytes(2) == "PING");
}

TEST_CASE("a_redial_after_a_failure_delays_no_operation") {
  Fleet fleet{3};
  fleet.make_ready(at(0ms));
  for (const NodeIndex node : {0U, 1U}) fleet.lose(node, at(1ms));
  fleet.engine.on_time(at(60ms));
  REQUIRE(fleet.engine.session(0).is_dialling());
  const auto probe = fleet.submit({}, at(60ms));
  CHECK(probe->told == Told{"start", "refused 0 connection lost", "refused 1 connection lost"});
}

TEST_CASE("a_later_operation_counts_its_wait_from_its_own_submission") {
  Fleet fleet{3};
  fleet.submit({}, at(0ms));
  fleet.greet(0, at(10ms));
  const auto second = fleet.submit({}, at(12ms));
  fleet.greet(1, at(20ms));
  fleet.engine.on_time(at(28ms) - 1ns);
  CHECK(second->told.empty());
  fleet.engine.on_time(at(28ms));
  CHECK(second->told == Told{"start"});
}

TEST_CASE("an_operation_given_up_before_its_start_finishes_without_starting") {
  Fleet fleet{3};
  const auto impatient = fleet.submit({}, at(0ms), at(30ms));
  const auto stopped = fleet.submit({}, at(0ms));
  CHECK(fleet.engine.timer() == at(30ms));
  fleet.engine.on_time(at(30ms));
  CHECK(impatient->told == Told{"given up"});
  CHECK(fleet.take_finished(impatient) == 1);
  fleet.abandon(stopped, at(31ms));
  CHECK(stopped->told == Told{"abandoned"});
  CHECK(fleet.take_finished(stopped) == 1);
  for (NodeIndex node = 0; node < 3; ++node) fleet.greet(node, at(40ms));
  CHECK(impatient->told == Told{"given up"});
  CHECK(fleet.take_bytes(0).empty());
}

TEST_CASE("validity_counts_from_the_end_of_the_wait_for_connections") {
  Fleet fleet{3};
  const Ref<Acquisition> attempt{new Acquisition{example_claim(), 3, Acquisition::Purpose::try_once}};
  fleet.engine.submit(Ref<Operation>{attempt.get()}, at(0ms));
  for (NodeIndex node = 0; node < 3; ++node) fleet.greet(node, at(100ms));
  for (NodeIndex node = 0; node < 2; ++node) fleet.engine.answered(node, ok(), at(120ms));
  REQUIRE(attempt->granted());
  CHECK(attempt->begun() == at(100ms));
  CHECK(attempt->valid_until() == at(1088ms));
}

TEST_CASE("an_inspection_waits_for_every_node_that_may_still_connect") {
  Fleet fleet{3};
  const Ref<Inspection> look{new Inspection{"key", 3, 50ms}};
  fleet.engine.submit(Ref<Operation>{look.get()}, at(0ms));
  fleet.greet(0, at(1ms));
  fleet.greet(1, at(2ms));
  fleet.engine.on_time(at(100ms));
  CHECK(fleet.take_bytes(0).empty());
  fleet.lose(2, at(110ms));
  CHECK_THAT(fleet.take_bytes(0), contains("PTTL"));
}
