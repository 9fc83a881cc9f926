#include "redlock/core/lease/breaking.hpp"

#include <chrono>
#include <string>
#include <string_view>

#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using Mark = Tally::Mark;

TEST_CASE("a_break_names_all_owners_to_every_node_and_makes_the_client_look_at_its_own_lease") {
  RecordingOutbox outbox{3};
  const std::string_view owners[] = {"reader 1", "reader 2"};
  Breaking breaking{"key", owners, 3, 50ms};
  CHECK(breaking.connections_wanted(3) == 3);
  CHECK(breaking.written_key() == "key");
  breaking.start(at(0ms), outbox);
  REQUIRE(outbox.sent().size() == 3);
  for (NodeIndex node = 0; node < 3; ++node) {
    CHECK(outbox.sent()[node].node == node);
    CHECK(outbox.sent()[node].command ==
          command({"EVAL", break_source(), "1", "key", "redlock:s:{key}", "reader 1", "reader 2"}));
    CHECK(outbox.sent()[node].options.send_by == at(50ms));
  }
}

TEST_CASE("a_break_tells_nodes_that_had_a_copy_from_those_that_had_none_and_those_that_do_not_answer") {
  RecordingOutbox outbox{6};
  outbox.refuse(0);
  const std::string_view owners[] = {"owner"};
  Breaking breaking{"key", owners, 6, 50ms};
  breaking.start(at(0ms), outbox);
  breaking.answered(1, 0, number(1), at(1ms), outbox);
  breaking.answered(2, 0, number(0), at(1ms), outbox);
  breaking.answered(3, 0, loading(), at(1ms), outbox);
  breaking.disconnected(4, lost_connection(), at(1ms), outbox);
  CHECK_FALSE(breaking.done());
  breaking.timed_out(at(50ms), outbox);
  REQUIRE(breaking.done());
  CHECK(breaking.tally().is(1, Mark::no));
  CHECK(breaking.tally().is(2, Mark::yes));
  CHECK(breaking.tally().count(Mark::unknown) == 4);
  breaking.answered(5, 0, number(1), at(51ms), outbox);
  CHECK(breaking.tally().is(5, Mark::unknown));
}

TEST_CASE("a_break_knows_by_a_negative_number_that_the_owners_are_readers") {
  const std::string_view owners[] = {"reader 1", "reader 2"};
  for (const int deleted : {2, 0, -2}) {
    CAPTURE(deleted);
    RecordingOutbox outbox{3};
    Breaking breaking{"key", owners, 3, 50ms};
    breaking.start(at(0ms), outbox);
    breaking.answered(0, 0, number(deleted), at(1ms), outbox);
    for (const NodeIndex node : {1U, 2U}) breaking.answered(node, 0, number(0), at(1ms), outbox);
    REQUIRE(breaking.done());
    CHECK(breaking.tally().is(0, deleted == 0 ? Mark::yes : Mark::no));
    CHECK(breaking.are_readers() == (deleted < 0));
  }
}

TEST_CASE("the_script_that_breaks_locks_consists_of_both_release_scripts") {
  CHECK(break_source().find(release_script.source) != std::string::npos);
  CHECK(break_source().find(shared_release_script.source) != std::string::npos);
}

TEST_CASE("as_many_readers_can_be_broken_as_the_script_names") {
  CHECK(readers_source.find("readers[1]<=" + std::to_string(most_named_readers) + " ") != std::string::npos);
}
