// The end of connections: loss, silence, closing and redial.
#include <algorithm>
#include <string>
#include <vector>

#include "redlock/core/node/session.hpp"
#include "support/catch.hpp"
#include "unit/support/line.hpp"

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
  Line line{settings};
  line.session.wake(at(0ms));
  std::vector<Span> all;
  Time now = at(0ms);
  for (int i = 0; i < count; ++i) {
    line.lose(now);
    all.push_back(line.session.timer() - now);
    now = line.session.timer();
    line.session.on_time(now);
    REQUIRE(line.session.state() == State::dialling);
  }
  return all;
}

}  // namespace

// ── silence ────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_connection_without_a_pending_reply_may_stay_silent_forever") {
  Line line;
  line.make_ready(at(0ms));
  CHECK(line.session.timer() == never);
  line.send("PING", 1, at(10ms));
  CHECK(line.session.timer() == at(210ms));
  line.session.answered(ok(), at(20ms));
  CHECK(line.session.timer() == never);
  line.session.on_time(at(24h));
  CHECK(line.session.ready());
}

TEST_CASE("silence_counts_from_the_first_unanswered_command_or_from_the_last_received_byte") {
  Line line;
  line.make_ready(at(0ms));
  line.send("A", 1, at(1h));
  line.send("B", 2, at(1h + 100ms));
  CHECK(line.session.timer() == at(1h + 200ms));
  line.session.heard(at(1h + 150ms));
  CHECK(line.session.timer() == at(1h + 350ms));
  line.session.on_time(at(1h + 350ms) - 1ns);
  CHECK(line.session.ready());
  line.session.on_time(at(1h + 350ms));
  CHECK(line.session.state() == State::down);
  CHECK(line.session.trouble().status == NodeStatus::timed_out);
  CHECK(line.session.trouble().message == "the connection stopped responding");
}

TEST_CASE("a_node_without_a_completed_handshake_within_the_connect_timeout_is_down") {
  for (const bool connects : {false, true}) {
    Line line;
    line.session.wake(at(0ms));
    if (connects) line.session.connected(at(499ms));
    line.session.heard(at(499ms));
    CHECK(line.session.timer() == at(500ms));
    line.session.on_time(at(500ms) - 1ns);
    CHECK(line.session.is_dialling());
    line.session.on_time(at(500ms));
    CHECK(line.session.state() == State::down);
    CHECK(line.session.trouble().status == NodeStatus::timed_out);
    CHECK(line.session.trouble().message == "no connection within the connect timeout");
  }
}

// ── redial ─────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_good_connection_that_breaks_is_redialled_at_once_and_commands_wait_for_it") {
  Line line;
  line.make_ready(at(0ms));
  line.lose(at(1s) + 1ns);
  CHECK(line.session.worth_waiting_for());
  CHECK(line.session.take_dial());
  CHECK(line.send("SET", 1, at(1s) + 1ns));
  line.greet(at(1001ms));
  CHECK(line.take_bytes() == "SET");
}

TEST_CASE("a_connection_that_breaks_within_a_second_is_redialled_only_after_a_pause") {
  Line line;
  line.make_ready(at(0ms));
  line.lose(at(1s));
  CHECK(line.session.state() == State::down);
  CHECK_FALSE(line.session.take_dial());
  CHECK(line.session.timer() >= at(1025ms));
  CHECK(line.session.timer() <= at(1050ms));
}

TEST_CASE("a_server_that_hangs_is_not_redialled_at_once_however_long_its_connection_lasted") {
  Line line;
  line.make_ready(at(0ms));
  line.send("SET", 1, at(1h));
  line.session.on_time(line.session.timer());
  CHECK(line.session.state() == State::down);
  CHECK_FALSE(line.session.take_dial());
}

TEST_CASE("a_redial_is_requested_once_and_commands_do_not_wait_for_it") {
  Line line;
  line.session.wake(at(0ms));
  line.session.take_dial();
  line.lose(at(0ms));
  line.session.take_closing();
  line.session.on_time(line.session.timer() - 1ns);
  CHECK_FALSE(line.session.has_errand());
  line.session.on_time(line.session.timer());
  CHECK(line.session.take_dial());
  CHECK_FALSE(line.session.take_dial());
  CHECK(line.session.is_dialling());
  CHECK_FALSE(line.session.worth_waiting_for());
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
  Line line;
  line.session.wake(at(0ms));
  Time now = at(0ms);
  for (int i = 0; i < 10; ++i) {
    line.lose(now);
    now = line.session.timer();
    line.session.on_time(now);
  }
  SECTION("a connection that ended within a second does not reset them") {
    line.greet(now);
    line.session.refuse(duplicate, now + 1s);
    CHECK(line.session.timer() - (now + 1s) >= 500ms);
  }
  SECTION("a connection that lasted longer resets them") {
    line.greet(now);
    line.session.refuse(duplicate, now + 1s + 1ns);
    CHECK(line.session.timer() - (now + 1s + 1ns) <= 50ms);
  }
}

TEST_CASE("a_server_that_fails_the_handshake_is_left_and_tried_again_later") {
  Line line;
  line.session.wake(at(0ms));
  line.send("SET", 1, at(0ms));
  line.session.connected(at(1ms));
  line.take_bytes();
  CHECK_FALSE(line.session.answered(noauth(), at(2ms)));
  CHECK(line.session.state() == State::down);
  CHECK(line.session.trouble().status == NodeStatus::auth_required);
  // The other replies of this handshake, which still arrive.
  CHECK_FALSE(line.session.answered(noauth(), at(2ms)));
  CHECK(line.session.state() == State::down);
  CHECK(line.session.timer() > at(2ms));
}

// ── closing ───────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_connection_that_is_closed_sends_its_releases_but_no_set") {
  Line line;
  line.make_ready(at(0ms));
  line.send("SENT", 1, at(1ms));
  line.take_bytes();
  line.send("SET", 2, at(1ms));
  line.release("RELEASE", 3, at(1ms));
  line.session.refuse(duplicate, at(2ms));
  CHECK(line.session.has_errand());
  const auto closing = line.session.take_closing();
  REQUIRE(closing);
  CHECK(closing->graceful);
  CHECK(closing->unsent == "RELEASE");
  CHECK_FALSE(line.session.take_closing());
  CHECK(line.session.unsent().empty());
}

TEST_CASE("a_partly_sent_command_is_completed_before_the_releases") {
  Line line;
  line.make_ready(at(0ms));
  line.send("SET", 1, at(1ms));
  line.session.sent(1);
  line.send("OTHER", 2, at(1ms));
  line.release("RELEASE", 3, at(1ms));
  line.session.refuse(duplicate, at(2ms));
  CHECK(line.session.take_closing().value().unsent == "ETRELEASE");
}

TEST_CASE("a_release_that_is_queued_before_the_closing_goes_to_both_connections") {
  // On the old connection the release undoes a SET that was sent there. As that connection may be broken, the
  // release is also sent on the next one.
  Line line;
  line.make_ready(at(0ms));
  line.send("SET", 1, at(1ms));
  line.take_bytes();
  line.session.refuse(duplicate, at(2ms));
  line.release("RELEASE", 2, at(2ms));
  CHECK(line.session.take_closing().value().unsent == "RELEASE");
  line.release("LATER", 3, at(3ms));
  CHECK_FALSE(line.session.take_closing());
  line.session.on_time(line.session.timer());
  line.greet(at(100ms));
  CHECK(line.take_bytes() == "RELEASELATER");
}

TEST_CASE("a_lost_connection_is_closed_at_once_and_sends_nothing") {
  Line line;
  line.make_ready(at(0ms));
  line.lose(at(1ms));
  // A later release can go to the next connection only.
  line.release("RELEASE", 1, at(1ms));
  const auto closing = line.session.take_closing();
  REQUIRE(closing);
  CHECK_FALSE(closing->graceful);
  CHECK(closing->unsent.empty());
  line.session.on_time(line.session.timer());
  line.greet(at(100ms));
  CHECK(line.take_bytes() == "RELEASE");
}

TEST_CASE("a_node_that_never_connected_has_nothing_to_send_on_closing") {
  Line line;
  line.session.wake(at(0ms));
  line.session.on_time(at(500ms));
  const auto closing = line.session.take_closing();
  REQUIRE(closing);
  CHECK_FALSE(closing->graceful);
  CHECK(closing->unsent.empty());
}

TEST_CASE("a_connection_closed_during_its_handshake_sends_no_password_and_no_release") {
  Session::Settings settings = example_settings();
  settings.login.password = "secret";
  Line line{settings};
  line.session.wake(at(0ms));
  line.release("RELEASE", 1, at(0ms));
  line.session.connected(at(1ms));
  line.session.sent(5);
  line.session.on_time(at(500ms));
  const auto closing = line.session.take_closing();
  REQUIRE(closing);
  CHECK(closing->graceful);
  CHECK(closing->unsent.empty());
}

// ── queries ────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_connection_unused_for_more_than_a_second_is_stale") {
  Line line;
  CHECK_FALSE(line.session.stale(at(1h)));
  line.make_ready(at(0ms));
  CHECK_FALSE(line.session.stale(at(1s)));
  CHECK(line.session.stale(at(1s) + 1ns));
  line.session.heard(at(2s));
  CHECK_FALSE(line.session.stale(at(3s)));
  line.lose(at(3s));
  CHECK_FALSE(line.session.stale(at(1h)));
}

TEST_CASE("a_disconnection_that_is_reported_twice_counts_once") {
  Line line;
  line.make_ready(at(0ms));
  line.lose(at(1ms));
  const Time redial_at = line.session.timer();
  line.session.disconnected({NodeStatus::unreachable, "again"}, at(2ms));
  CHECK(line.session.timer() == redial_at);
  CHECK(line.session.trouble().status == NodeStatus::connection_lost);
}
