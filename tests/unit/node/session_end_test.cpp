// The end of connections: loss, silence, closing and redial.
#include <algorithm>
#include <string>
#include <vector>

#include "redlock/core/node/session.hpp"
#include "support/catch.hpp"
#include "unit/support/session_harness.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::NodeStatus;
using State = Session::State;

const Trouble duplicate{NodeStatus::same_node, "the same server as another"};

/// The pauses before the redials of a node that never accepts a connection.
std::vector<Span> pauses(std::uint64_t seed, int count) {
  Session::Settings settings = example_settings();
  settings.seed = seed;
  SessionHarness harness{settings};
  harness.session.wake(at(0ms));
  std::vector<Span> all;
  Time now = at(0ms);
  for (int i = 0; i < count; ++i) {
    harness.disconnect(now);
    all.push_back(harness.session.timer() - now);
    now = harness.session.timer();
    harness.session.on_time(now);
    REQUIRE(harness.session.state() == State::dialling);
  }
  return all;
}

}  // namespace

// ── silence ────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_connection_without_a_pending_reply_may_stay_silent_forever") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  CHECK(harness.session.timer() == never);
  harness.send("PING", 1, at(10ms));
  CHECK(harness.session.timer() == at(210ms));
  harness.session.answered(ok(), at(20ms));
  CHECK(harness.session.timer() == never);
  harness.session.on_time(at(24h));
  CHECK(harness.session.ready());
}

TEST_CASE("silence_counts_from_the_oldest_unanswered_command") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.send("A", 1, at(1h));
  harness.send("B", 2, at(1h + 100ms));
  CHECK(harness.session.timer() == at(1h + 200ms));
  harness.session.answered(ok(), at(1h + 160ms));
  CHECK(harness.session.timer() == at(1h + 300ms));
  CHECK_FALSE(harness.session.on_time(at(1h + 300ms) - 1ns));
  CHECK(harness.session.ready());
  CHECK(harness.session.on_time(at(1h + 300ms)));
  CHECK(harness.session.state() == State::down);
  CHECK(harness.session.trouble().status == NodeStatus::timed_out);
  CHECK(harness.session.trouble().message == "the connection stopped responding");
}

TEST_CASE("no_reply_counts_as_missing_while_bytes_are_unread") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.send("A", 1, at(1h));
  harness.session.left_unread(true);
  CHECK_FALSE(harness.session.on_time(at(2h)));
  CHECK(harness.session.ready());
  harness.session.left_unread(false);
  CHECK(harness.session.on_time(at(2h)));
  CHECK(harness.session.state() == State::down);
}

TEST_CASE("unread_bytes_of_a_lost_connection_do_not_protect_the_next_one") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.session.left_unread(true);
  harness.disconnect(at(2s));
  harness.connect(at(2s));
  harness.send("A", 1, at(2s));
  CHECK(harness.session.on_time(at(2200ms)));
}

TEST_CASE("a_node_without_a_completed_handshake_within_the_connect_timeout_is_down") {
  for (const bool connects : {false, true}) {
    SessionHarness harness;
    harness.session.wake(at(0ms));
    if (connects) harness.session.connected();
    CHECK(harness.session.timer() == at(500ms));
    harness.session.on_time(at(500ms) - 1ns);
    CHECK(harness.session.is_dialling());
    harness.session.on_time(at(500ms));
    CHECK(harness.session.state() == State::down);
    CHECK(harness.session.trouble().status == NodeStatus::timed_out);
    CHECK(harness.session.trouble().message == "no connection within the connect timeout");
  }
}

// ── redial ─────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_good_connection_that_breaks_is_redialled_at_once_and_commands_wait_for_it") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.disconnect(at(1s) + 1ns);
  CHECK(harness.session.worth_waiting_for());
  CHECK(harness.session.take_dial());
  CHECK(harness.send("SET", 1, at(1s) + 1ns));
  harness.connect(at(1001ms));
  CHECK(harness.take_bytes() == "SET");
}

TEST_CASE("a_connection_that_breaks_within_a_second_is_redialled_only_after_a_pause") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.disconnect(at(1s));
  CHECK(harness.session.state() == State::down);
  CHECK_FALSE(harness.session.take_dial());
  CHECK(harness.session.timer() >= at(1025ms));
  CHECK(harness.session.timer() <= at(1050ms));
}

TEST_CASE("a_server_that_hangs_is_not_redialled_at_once_however_long_its_connection_lasted") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.send("SET", 1, at(1h));
  harness.session.on_time(harness.session.timer());
  CHECK(harness.session.state() == State::down);
  CHECK_FALSE(harness.session.take_dial());
}

TEST_CASE("a_redial_is_requested_once_and_commands_do_not_wait_for_it") {
  SessionHarness harness;
  harness.session.wake(at(0ms));
  harness.session.take_dial();
  harness.disconnect(at(0ms));
  harness.session.take_closing();
  harness.session.on_time(harness.session.timer() - 1ns);
  CHECK_FALSE(harness.session.has_errand());
  harness.session.on_time(harness.session.timer());
  CHECK(harness.session.take_dial());
  CHECK_FALSE(harness.session.take_dial());
  CHECK(harness.session.is_dialling());
  CHECK_FALSE(harness.session.worth_waiting_for());
}

TEST_CASE("pauses_before_redials_grow_from_25_ms_to_a_second_and_are_jittered") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    Span window = 50ms;
    for (const Span pause : pauses(seed, 20)) {
      CHECK(pause >= window / 2);
      CHECK(pause <= window);
      window = std::min<Span>(2 * window, 1s);
    }
  }
}

TEST_CASE("the_seed_alone_determines_when_a_node_is_redialled") {
  CHECK(pauses(1, 20) == pauses(1, 20));
  CHECK(pauses(1, 20) != pauses(2, 20));
}

TEST_CASE("a_good_connection_resets_the_redial_pauses") {
  SessionHarness harness;
  harness.session.wake(at(0ms));
  Time now = at(0ms);
  for (int i = 0; i < 10; ++i) {
    harness.disconnect(now);
    now = harness.session.timer();
    harness.session.on_time(now);
  }
  SECTION("a connection that ended within a second does not reset them") {
    harness.connect(now);
    CHECK_FALSE(harness.session.answered(ok(), now + 1s));  // to no command
    CHECK(harness.session.timer() - (now + 1s) >= 500ms);
  }
  SECTION("a connection that lasted longer resets them") {
    harness.connect(now);
    CHECK_FALSE(harness.session.answered(ok(), now + 1s + 1ns));
    CHECK(harness.session.timer() - (now + 1s + 1ns) <= 50ms);
  }
}

TEST_CASE("a_server_that_fails_the_handshake_is_left_and_tried_again_later") {
  SessionHarness harness;
  harness.session.wake(at(0ms));
  harness.send("SET", 1, at(0ms));
  harness.session.connected();
  harness.take_bytes();
  CHECK_FALSE(harness.session.answered(noauth(), at(2ms)));
  CHECK(harness.session.state() == State::down);
  CHECK(harness.session.trouble().status == NodeStatus::auth_required);
  // The other replies of this handshake, which still arrive.
  CHECK_FALSE(harness.session.answered(noauth(), at(2ms)));
  CHECK(harness.session.state() == State::down);
  CHECK(harness.session.timer() > at(2ms));
}

// ── closing ───────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_connection_that_is_closed_sends_its_releases_but_no_set") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.send("SENT", 1, at(1ms));
  harness.take_bytes();
  harness.send("SET", 2, at(1ms));
  harness.release("RELEASE", 3, at(1ms));
  harness.session.refuse(duplicate, at(2ms), 10s);
  CHECK(harness.session.has_errand());
  const auto closing = harness.session.take_closing();
  REQUIRE(closing);
  CHECK(closing->graceful);
  CHECK(closing->unsent == "RELEASE");
  CHECK_FALSE(harness.session.take_closing());
  CHECK(harness.session.unsent().empty());
}

TEST_CASE("a_partly_sent_command_is_completed_before_the_releases") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.send("SET", 1, at(1ms));
  harness.session.sent(1);
  harness.send("OTHER", 2, at(1ms));
  harness.release("RELEASE", 3, at(1ms));
  harness.session.refuse(duplicate, at(2ms), 10s);
  CHECK(harness.session.take_closing().value().unsent == "ETRELEASE");
}

TEST_CASE("a_release_that_is_queued_before_the_closing_goes_to_both_connections") {
  // On the old connection the release undoes a SET that was sent there. As that connection may be broken, the
  // release is also sent on the next one.
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.send("SET", 1, at(1ms));
  harness.take_bytes();
  harness.session.refuse(duplicate, at(2ms), 10s);
  harness.release("RELEASE", 2, at(2ms));
  CHECK(harness.session.take_closing().value().unsent == "RELEASE");
  harness.release("LATER", 3, at(3ms));
  CHECK_FALSE(harness.session.take_closing());
  harness.session.wake(at(10001ms));
  CHECK(harness.session.state() == State::down);
  harness.session.wake(at(10002ms));
  harness.connect(at(10100ms));
  CHECK(harness.take_bytes() == "RELEASELATER");
}

TEST_CASE("a_refused_connection_without_commands_is_closed_at_once_and_sends_no_later_release") {
  // The other name of the server sends that release, and must be the one that deletes the key.
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.session.refuse(duplicate, at(1ms), 10s);
  harness.release("RELEASE", 1, at(1ms));
  const auto closing = harness.session.take_closing();
  REQUIRE(closing);
  CHECK_FALSE(closing->graceful);
  CHECK(closing->unsent.empty());
}

TEST_CASE("a_lost_connection_is_closed_at_once_and_sends_nothing") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.disconnect(at(1ms));
  // A later release can go to the next connection only.
  harness.release("RELEASE", 1, at(1ms));
  const auto closing = harness.session.take_closing();
  REQUIRE(closing);
  CHECK_FALSE(closing->graceful);
  CHECK(closing->unsent.empty());
  harness.session.on_time(harness.session.timer());
  harness.connect(at(100ms));
  CHECK(harness.take_bytes() == "RELEASE");
}

TEST_CASE("a_node_that_never_connected_has_nothing_to_send_on_closing") {
  SessionHarness harness;
  harness.session.wake(at(0ms));
  harness.session.on_time(at(500ms));
  const auto closing = harness.session.take_closing();
  REQUIRE(closing);
  CHECK_FALSE(closing->graceful);
  CHECK(closing->unsent.empty());
}

TEST_CASE("a_connection_closed_during_its_handshake_sends_no_password_and_no_release") {
  Session::Settings settings = example_settings();
  settings.login.password = "secret";
  SessionHarness harness{settings};
  harness.session.wake(at(0ms));
  harness.release("RELEASE", 1, at(0ms));
  harness.session.connected();
  harness.session.sent(5);
  harness.session.on_time(at(500ms));
  const auto closing = harness.session.take_closing();
  REQUIRE(closing);
  CHECK(closing->graceful);
  CHECK(closing->unsent.empty());
}

// ── queries ────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_connection_unused_for_more_than_10_ms_is_stale") {
  SessionHarness harness;
  CHECK_FALSE(harness.session.stale(at(1h)));
  harness.make_ready(at(0ms));
  CHECK_FALSE(harness.session.stale(at(10ms)));
  CHECK(harness.session.stale(at(10ms) + 1ns));
  CHECK(harness.session.stale(at(2s)));
  REQUIRE(harness.send("x", 0, at(2s)));
  harness.session.answered(ok(), at(2009ms));  // it may have arrived before the connection ended
  CHECK_FALSE(harness.session.stale(at(2010ms)));
  CHECK(harness.session.stale(at(2010ms) + 1ns));
  harness.disconnect(at(3s));
  CHECK_FALSE(harness.session.stale(at(1h)));
}

TEST_CASE("releases_are_expected_to_be_sent_on_a_new_connection_until_an_attempt_to_make_it_has_failed") {
  for (const auto lived :
       {100ms, 5000ms}) {  // a connection that lived for so long is replaced after a pause, or at once
    SessionHarness harness;
    CHECK_FALSE(harness.session.expects_to_release());
    harness.make_ready(at(0ms));
    harness.disconnect(at(lived));
    CHECK_FALSE(harness.session.expects_to_release());
    harness.release("RELEASE", 1, at(lived));
    CHECK(harness.session.expects_to_release());
    harness.session.on_time(at(lived + 1s));
    CHECK(harness.session.expects_to_release());
    harness.disconnect(at(lived + 1s));
    harness.session.on_time(at(lived + 2s));
    harness.disconnect(at(lived + 2s));
    CHECK_FALSE(harness.session.expects_to_release());
  }
}

TEST_CASE("releases_for_a_node_that_was_never_connected_are_not_expected_to_be_sent") {
  SessionHarness harness;
  harness.session.wake(at(0ms));
  harness.release("RELEASE", 1, at(0ms));
  CHECK_FALSE(harness.session.expects_to_release());
}

TEST_CASE("releases_are_no_longer_expected_to_be_sent_once_they_are") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.disconnect(at(5s));
  harness.release("RELEASE", 1, at(5s));
  REQUIRE(harness.session.expects_to_release());
  harness.make_ready(at(5s));
  CHECK_FALSE(harness.session.expects_to_release());
}

TEST_CASE("a_disconnection_that_is_reported_twice_counts_once") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.disconnect(at(1ms));
  const Time redial_at = harness.session.timer();
  harness.session.disconnected({NodeStatus::unreachable, "again"}, at(2ms));
  CHECK(harness.session.timer() == redial_at);
  CHECK(harness.session.trouble().status == NodeStatus::connection_lost);
}
