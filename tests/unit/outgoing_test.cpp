// What is to be sent, and what still goes when a connection is given up; with the ring that it is kept in.
#include "redlock/core/outgoing.hpp"

#include <string>

#include "redlock/core/ring.hpp"
#include "support/catch.hpp"

using redlock::core::Outgoing;
using redlock::core::Ring;

TEST_CASE("bytes_leave_in_the_order_they_came_whatever_is_taken_at_a_time", "[outgoing]") {
  const std::string all = "set-onerelease-oneset-two";
  for (std::size_t piece = 1; piece <= all.size(); ++piece) {
    Outgoing outgoing;
    outgoing.add("set-one", false);
    outgoing.add("release-one", true);
    outgoing.add("set-two", false);
    std::string sent;
    while (!outgoing.unsent().empty()) {
      const std::string part{outgoing.unsent().substr(0, piece)};
      sent += part;
      outgoing.sent(part.size());
    }
    CHECK(sent == all);
    CHECK(outgoing.size() == 0);
  }
}

TEST_CASE("the_last_words_are_the_rest_of_a_command_and_the_releases", "[outgoing]") {
  // Wherever the sending stopped, no command that sets something is begun any more.
  const std::string commands[] = {"SET1;", "rel1;", "SET2;", "rel2;"};
  const std::string all = commands[0] + commands[1] + commands[2] + commands[3];
  for (std::size_t sent = 0; sent <= all.size(); ++sent) {
    Outgoing outgoing;
    for (const std::string& command : commands) outgoing.add(command, command.starts_with("rel"));
    outgoing.sent(sent);
    std::string expected;
    std::size_t begin = 0;
    for (const std::string& command : commands) {
      const std::size_t end = begin + command.size();
      const bool begun = sent > begin;
      if (sent < end && (begun || command.starts_with("rel")))
        expected += all.substr(begun ? sent : begin, end - (begun ? sent : begin));
      begin = end;
    }
    CHECK(outgoing.take_last_words() == expected);
    CHECK(outgoing.unsent().empty());
  }
}

TEST_CASE("it_can_be_used_again_after_its_last_words", "[outgoing]") {
  Outgoing outgoing;
  outgoing.add("half", false);
  outgoing.sent(2);
  CHECK(outgoing.take_last_words() == "lf");
  outgoing.add("next", false);
  CHECK(outgoing.unsent() == "next");
  outgoing.clear();
  CHECK(outgoing.size() == 0);
}

TEST_CASE("what_was_sent_is_forgotten_also_when_something_is_always_left", "[outgoing]") {
  Outgoing outgoing;
  outgoing.add(std::string(1000, 'x'), false);
  for (int round = 0; round < 10000; ++round) {
    outgoing.add(std::string(1000, 'x'), false);
    outgoing.sent(1000);
  }
  CHECK(outgoing.size() == 1000);
}

TEST_CASE("a_ring_keeps_order_while_it_grows_and_turns", "[ring]") {
  Ring<int> ring;
  int pushed = 0;
  int popped = 0;
  for (int round = 1; round < 200; ++round) {
    for (int i = 0; i < round % 7 + 1; ++i) ring.push(pushed++);
    for (int i = 0; i < round % 5 && !ring.empty(); ++i) {
      REQUIRE(ring.front() == popped);
      REQUIRE(ring.pop() == popped++);
    }
    REQUIRE(ring.size() == static_cast<std::size_t>(pushed - popped));
  }
  CHECK(popped > 100);
  ring.clear();
  CHECK(ring.empty());
}
