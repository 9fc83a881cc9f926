#include "redlock/core/lease/asking.hpp"

#include <chrono>
#include <string>

#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using Mark = Tally::Mark;

TEST_CASE("whoever_is_asked_for_a_lock_is_found_by_its_key_or_by_the_set_of_its_readers") {
  RecordingOutbox outbox{3};
  Asking asking{"key", "please", 3, 50ms};
  CHECK(asking.connections_wanted(3) == 3);
  asking.start(at(0ms), outbox);
  REQUIRE(outbox.sent().size() == 3);
  for (NodeIndex node = 0; node < 3; ++node) {
    CHECK(outbox.sent()[node].node == node);
    CHECK(outbox.sent()[node].command ==
          command({"EVAL", ask_source, "2", "key", "redlock:a:{key}:", "please", "redlock:s:{key}"}));
    CHECK(outbox.sent()[node].options.send_by == at(50ms));
  }
}

TEST_CASE("an_answer_names_the_holder_or_the_readers_or_nobody") {
  RecordingOutbox outbox{3};
  Asking asking{"key", "please", 3, 50ms};
  asking.start(at(0ms), outbox);
  asking.answered(0, 0, array_reply({string_reply("redlock:shared"), number(700)}), at(1ms), outbox);
  asking.answered(1, 0, array_reply({string_reply("writer"), number(-1)}), at(1ms), outbox);
  CHECK_FALSE(asking.done());
  asking.answered(2, 0, array_reply({string_reply(""), number(-2)}), at(1ms), outbox);
  REQUIRE(asking.done());
  CHECK(asking.tally().is(0, Mark::no));
  CHECK(asking.tally()[0].owner == "redlock:shared");
  CHECK(asking.tally()[0].ttl == 700ms);
  CHECK(asking.tally()[1].owner == "writer");
  CHECK_FALSE(asking.tally()[1].ttl);
  CHECK(asking.tally().is(2, Mark::yes));
}

TEST_CASE("nodes_that_answer_otherwise_or_not_at_all_are_unknown") {
  RecordingOutbox outbox{4};
  outbox.refuse(0);
  Asking asking{"key", "please", 4, 50ms};
  asking.start(at(0ms), outbox);
  asking.answered(1, 0, loading(), at(1ms), outbox);
  asking.disconnected(2, lost_connection(), at(1ms), outbox);
  CHECK_FALSE(asking.done());
  asking.timed_out(at(50ms), outbox);
  REQUIRE(asking.done());
  CHECK(asking.tally().count(Mark::unknown) == 4);
}
