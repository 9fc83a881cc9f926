// Calls of readers that wait for a shared lock: what they do otherwise than writers.
#include <chrono>
#include <string>

#include "redlock/core/wire/shared_scripts.hpp"
#include "support/catch.hpp"
#include "unit/support/standing_client.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using namespace redlock::core;

TEST_CASE("a_reader_that_is_the_first_one_asks_whether_readers_may_have_the_lock") {
  StandingClient client{3};
  TestWaiter reader{at(0ms), 0, true};
  client.join(reader, at(0ms));
  client.answer(client.gate(), "stand", place_reply(0, 1), at(1ms));
  for (const auto& [sent, sender] : client.under_way)
    if (StandingClient::kind_of(sent.command) == "readable")
      CHECK(sent.command == command({"EVAL", readable_source, "1", "key"}));
  CHECK(client.count("readable") == 3);
  client.answer(0, "readable", number(-2), at(2ms));
  client.answer(1, "readable", number(700), at(2ms));  // a writer has it there
  CHECK(reader.attempts == 0);
  SECTION("because other readers have it on a majority") {
    client.answer(2, "readable", number(-2), at(2ms));
  }
  SECTION("because the writers ttl is over") {
    client.answer(2, "readable", number(1000), at(2ms));
    CHECK(client.lines.timer() == at(703ms));
    client.advance(at(703ms));
  }
  SECTION("because a node reported a change") {
    client.answer(2, "readable", number(1000), at(2ms));
    client.lines.key_changed(2, "key");
    client.advance(at(3ms));
  }
  CHECK(reader.attempts == 1);
}

TEST_CASE("what_a_writer_read_says_nothing_to_the_reader_that_is_the_first_one_after_it") {
  StandingClient client{3};
  TestWaiter first{at(0ms), 0, false};
  TestWaiter second{at(1ms), 0, true};
  client.join(first, at(1ms));
  client.join(second, at(1ms));
  client.become_head(at(2ms));  // all nodes are held, maybe by readers
  client.lines.leave(first);
  client.advance(at(3ms));
  client.answer(client.gate(), "stand", place_reply(0, 1), at(4ms));
  CHECK(client.count("readable") == 3);
  CHECK(second.attempts == 0);
  for (const NodeIndex node : {0U, 1U}) client.answer(node, "readable", number(-2), at(5ms));
  CHECK(second.attempts == 1);
}

TEST_CASE("what_a_reader_read_says_nothing_to_the_writer_that_is_the_first_one_after_it") {
  StandingClient client{3};
  TestWaiter first{at(0ms), 0, true};
  TestWaiter second{at(1ms), 0, false};
  client.join(first, at(1ms));
  client.join(second, at(1ms));
  client.answer(client.gate(), "stand", place_reply(0, 1), at(2ms));
  for (const NodeIndex node : {0U, 1U}) client.answer(node, "readable", number(-2), at(2ms));
  REQUIRE(first.attempts == 1);
  client.lines.attempt_succeeded(first, true, at(3ms));
  client.advance(at(3ms));
  client.answer(client.gate(), "stand", place_reply(0, 1), at(4ms));
  CHECK(second.attempts == 0);
  CHECK(client.count("PTTL") == 3);
  for (NodeIndex node = 0; node < 3; ++node) client.answer(node, "PTTL", number(1000), at(5ms));
  CHECK(second.attempts == 0);  // the reader has it
}
