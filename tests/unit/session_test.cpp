// One node's connection, told step by step.
#include "redlock/core/session.hpp"

#include <string>

#include "support/catch.hpp"
#include "unit/connected.hpp"
#include "unit/recorder.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock;
using namespace redlock::core;
using namespace redlock::testing;

Session::Slot nobody(Step step = 0) { return {{}, step, false}; }
Session::Slot owed() { return {{}, 9, true}; }

std::string take_unsent(Session& session) {
  std::string bytes{session.unsent()};
  session.sent(bytes.size());
  return bytes;
}

/// A session whose connection has been good for so long.
Session ready_session(Span good_for = 2s) {
  Session session{session_settings("node")};
  connect(session, at(0s));
  session.heard(at(good_for));
  return session;
}

}  // namespace

TEST_CASE("a_session_dials_greets_and_is_ready", "[session]") {
  Session session{session_settings("node")};
  CHECK(session.state() == Session::State::idle);
  CHECK(session.timer() == never);
  session.wake(at(0s));
  CHECK(session.hopeful());
  CHECK(session.timer() == at(500ms));
  REQUIRE(session.take_dial());
  CHECK_FALSE(session.has_errand());
  session.connected(at(1ms));
  CHECK(session.state() == Session::State::greeting);
  CHECK_THAT(take_unsent(session), contains("ROLE"));
  CHECK(session.timer() == at(500ms));  // the connect timeout covers the greeting
  answer_greeting(session, at(2ms));
  CHECK(session.ready());
  CHECK(session.run_id() == "node");
  CHECK(session.timer() == never);
}

TEST_CASE("replies_belong_to_the_commands_in_their_order_late_or_not", "[session]") {
  Session session = ready_session();
  for (Step step = 1; step <= 40; ++step) CHECK_FALSE(session.send("cmd;", nobody(step), never, at(3s)));
  take_unsent(session);
  for (Step step = 1; step <= 40; ++step) {
    const auto slot = session.answered(ok(), at(60s));
    REQUIRE(slot);
    CHECK(slot->step == step);
  }
}

TEST_CASE("a_reply_to_nothing_ends_the_connection", "[session]") {
  Session session = ready_session();
  CHECK_FALSE(session.answered(ok(), at(3s)));
  CHECK(session.state() == Session::State::down);
  CHECK(session.trouble().status == NodeStatus::protocol_error);
}

TEST_CASE("commands_wait_for_a_first_connection_and_stale_ones_are_not_sent", "[session]") {
  Session session{session_settings("node")};
  session.wake(at(0s));
  CHECK_FALSE(session.send("set-stale;", nobody(1), at(10ms), at(0s)));
  CHECK_FALSE(session.send("set-fresh;", nobody(2), at(90ms), at(0s)));
  connect(session, at(50ms));
  CHECK(take_unsent(session) == "set-fresh;");
  CHECK(session.answered(ok(), at(51ms))->step == 2);
}

TEST_CASE("a_node_that_is_down_refuses_at_once_but_keeps_releases", "[session]") {
  Session session{session_settings("node")};
  session.wake(at(0s));
  REQUIRE(session.take_dial());
  session.disconnected({NodeStatus::unreachable, "refused"}, at(1ms));
  REQUIRE(session.take_farewell());
  const Trouble* const refused = session.send("set;", nobody(), at(1s), at(2ms));
  REQUIRE(refused);
  CHECK(refused->status == NodeStatus::unreachable);
  CHECK(session.send("release;", owed(), at(30s), at(2ms)));
  CHECK(session.send("release-expired;", owed(), at(100ms), at(2ms)));

  session.on_time(session.timer());  // redials, without hope: still no vote, still no waiting
  CHECK_FALSE(session.hopeful());
  CHECK(session.send("set;", nobody(), at(1s), at(60ms)));
  connect(session, at(200ms));
  CHECK(take_unsent(session) == "release;");
  CHECK(session.owes());
  CHECK(session.answered(number(0), at(201ms)));
  CHECK_FALSE(session.owes());
}

TEST_CASE("silence_is_judged_only_while_answers_are_due_and_no_byte_comes", "[session]") {
  Session session = ready_session(1h);
  CHECK(session.timer() == never);
  const Time sent = at(2h);
  session.send("cmd;", nobody(), never, sent);
  CHECK(session.timer() == sent + 1s);
  session.heard(sent + 900ms);  // a part of a reply
  session.on_time(sent + 1s);
  CHECK(session.ready());
  session.on_time(sent + 1900ms);
  CHECK(session.state() == Session::State::down);
  CHECK(session.trouble().status == NodeStatus::timed_out);
  CHECK(session.take_farewell()->graceful);
}

TEST_CASE("a_good_connection_that_breaks_is_replaced_at_once", "[session]") {
  Session session = ready_session();
  session.disconnected({NodeStatus::connection_lost, "reset"}, at(3s));
  CHECK(session.hopeful());
  CHECK_FALSE(session.take_farewell()->graceful);
  CHECK(session.take_dial());

  Session flapping = ready_session(1ms);  // it had been good for a moment only
  flapping.disconnected({NodeStatus::connection_lost, "reset"}, at(2ms));
  CHECK(flapping.state() == Session::State::down);
  CHECK_FALSE(flapping.take_dial());
}

TEST_CASE("redials_wait_longer_and_longer_and_a_seed_says_how_long", "[session]") {
  const auto waits = [](std::uint64_t seed) {
    Session::Settings settings = session_settings("node");
    settings.seed = seed;
    Session session{settings};
    session.wake(at(0s));
    std::vector<Span> all;
    Time now = at(0s);
    for (int dial = 0; dial < 10; ++dial) {
      REQUIRE(session.take_dial());
      session.disconnected({NodeStatus::unreachable, "refused"}, now);
      session.take_farewell();
      all.push_back(session.timer() - now);
      now = session.timer();
      session.on_time(now);
    }
    return all;
  };
  Span window = 50ms;
  for (const Span wait : waits(1)) {
    CHECK(wait >= window / 2);
    CHECK(wait <= window);
    window = std::min<Span>(2 * window, 1s);
  }
  CHECK(waits(1) == waits(1));
  CHECK(waits(1) != waits(2));
}

TEST_CASE("a_connection_given_up_takes_releases_along_and_leaves_what_sets_something", "[session]") {
  Session session = ready_session();
  session.send("set-one;", nobody(), never, at(3s));
  session.sent(8);  // the node has it, and is silent
  session.send("set-two;", nobody(), never, at(3s));
  session.send("release-two;", owed(), at(1h), at(3s));
  session.on_time(at(4s));
  // Attempt one learns of it and releases: behind its SET on the old connection, and on the next one.
  CHECK(session.send("release-one;", owed(), at(1h), at(4s)));
  const auto farewell = session.take_farewell();
  REQUIRE(farewell);
  CHECK(farewell->graceful);
  CHECK(farewell->unsent == "release-two;release-one;");
  connect(session, at(5s));
  CHECK(take_unsent(session) == "release-one;");
}

TEST_CASE("unsent_bytes_are_bounded_and_an_accepted_set_can_be_released", "[session]") {
  Session session = ready_session();
  const std::string set(1000, 's');
  const std::string release(1000, 'r');
  int accepted = 0;
  const Trouble* refused = nullptr;
  while (!(refused = session.send(set, nobody(), never, at(3s)))) ++accepted;
  CHECK(refused->status == NodeStatus::overloaded);
  CHECK(accepted * 1000 <= (1 << 20));
  for (int i = 0; i < accepted; ++i) REQUIRE_FALSE(session.send(release, owed(), never, at(3s)));
  CHECK(session.unsent().size() <= (1U << 20U));
}

TEST_CASE("a_dead_node_with_many_releases_waiting_is_unreachable_not_overloaded", "[session]") {
  Session session{session_settings("node")};
  session.wake(at(0s));
  session.disconnected({NodeStatus::unreachable, "refused"}, at(1ms));
  for (int i = 0; i < 3000; ++i) session.send(std::string(1000, 'r'), owed(), at(1h), at(1ms));
  CHECK(session.send("set;", nobody(), at(1h), at(2ms))->status == NodeStatus::unreachable);
}

TEST_CASE("what_has_not_been_used_for_a_second_is_read_before_it_is_written", "[session]") {
  Session session = ready_session();
  CHECK_FALSE(session.stale(at(2s) + 1s));
  CHECK(session.stale(at(2s) + 1001ms));
}

TEST_CASE("trouble_in_the_greeting_says_why_the_node_does_not_vote", "[session]") {
  Session session{session_settings("node")};
  session.wake(at(0s));
  REQUIRE(session.take_dial());
  session.connected(at(1ms));
  CHECK_FALSE(session.answered(noauth(), at(2ms)));
  CHECK(session.state() == Session::State::down);
  CHECK(session.send("set;", nobody(), never, at(3ms))->status == NodeStatus::auth_required);
  const auto farewell = session.take_farewell();
  REQUIRE(farewell);
  CHECK(farewell->unsent.empty());
}
