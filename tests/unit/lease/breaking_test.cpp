#include "redlock/core/lease/breaking.hpp"

#include <chrono>
#include <string>

#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using Mark = Tally::Mark;

namespace {

constexpr Step looked = 0;
constexpr Step deleted = 1;

}  // namespace

TEST_CASE("a_break_compares_and_deletes_in_the_name_of_an_exclusive_holder") {
  RecordingOutbox outbox{3};
  Breaking breaking{"key", {"owner"}, 3, 50ms};
  CHECK(breaking.connections_wanted(3) == 3);
  CHECK(breaking.written_key() == "key");
  breaking.start(at(0ms), outbox);
  REQUIRE(outbox.sent().size() == 3);
  CHECK(outbox.sent()[2].command == command({"GETRANGE", "key", "0", "1023"}));
  breaking.answered(2, looked, string_reply("owner"), at(1ms), outbox);
  REQUIRE(outbox.sent().size() == 4);
  CHECK(outbox.sent()[3].node == 2);
  CHECK(outbox.sent()[3].command == command({"EVAL", release_script.source, "1", "key", "owner"}));
  CHECK(outbox.sent()[3].options.send_by == at(50ms));
}

TEST_CASE("a_break_deletes_what_each_of_the_readers_has") {
  RecordingOutbox outbox{1};
  Breaking breaking{"key", {"reader 1", "reader 2"}, 1, 50ms};
  breaking.start(at(0ms), outbox);
  breaking.answered(0, looked, string_reply("redlock:shared"), at(1ms), outbox);
  REQUIRE(outbox.sent().size() == 3);
  CHECK(outbox.sent()[1].command ==
        command({"EVAL", shared_release_script.source, "2", "key", "redlock:s:{key}", "reader 1"}));
  CHECK(outbox.sent()[2].command ==
        command({"EVAL", shared_release_script.source, "2", "key", "redlock:s:{key}", "reader 2"}));
  breaking.answered(0, deleted, number(0), at(1ms), outbox);
  CHECK_FALSE(breaking.done());
  breaking.answered(0, deleted, number(1), at(1ms), outbox);
  REQUIRE(breaking.done());
  CHECK(breaking.tally().is(0, Mark::no));
  CHECK(breaking.tally()[0].owner == "reader 2");
}

TEST_CASE("a_node_where_none_of_the_owners_has_a_copy_loses_nothing") {
  RecordingOutbox outbox{2};
  Breaking breaking{"key", {"owner"}, 2, 50ms};
  breaking.start(at(0ms), outbox);
  for (NodeIndex node = 0; node < 2; ++node)
    breaking.answered(node, looked, string_reply(node == 0 ? "" : "successor"), at(1ms), outbox);
  for (NodeIndex node = 0; node < 2; ++node) breaking.answered(node, deleted, number(0), at(2ms), outbox);
  REQUIRE(breaking.done());
  CHECK(breaking.tally().count(Mark::yes) == 2);
  CHECK_FALSE(breaking.tally()[1].owner);
}

TEST_CASE("nodes_that_do_not_answer_about_a_break_are_unknown") {
  RecordingOutbox outbox{5};
  outbox.refuse(0);
  Breaking breaking{"key", {"owner"}, 5, 50ms};
  breaking.start(at(0ms), outbox);
  breaking.answered(1, looked, loading(), at(1ms), outbox);
  breaking.disconnected(2, lost_connection(), at(1ms), outbox);
  breaking.answered(3, looked, string_reply("owner"), at(1ms), outbox);
  breaking.answered(3, deleted, string_reply("1"), at(1ms), outbox);
  CHECK_FALSE(breaking.done());
  breaking.timed_out(at(50ms), outbox);
  REQUIRE(breaking.done());
  CHECK(breaking.tally().count(Mark::unknown) == 5);
}
