// Which bytes go over a connection, in which order, and which command each reply belongs to.
#include "redlock/core/node/session.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/line.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::NodeStatus;
using State = Session::State;

}  // namespace

TEST_CASE("nothing_is_dialled_before_the_first_use") {
  Line line;
  CHECK(line.session.state() == State::idle);
  CHECK(line.session.timer() == never);
  CHECK_FALSE(line.session.has_errand());
  line.session.wake(at(0ms));
  CHECK(line.session.worth_waiting_for());
  CHECK(line.session.take_dial());
  line.session.wake(at(1ms));
  CHECK_FALSE(line.session.take_dial());
}

TEST_CASE("the_handshake_is_sent_first_and_alone") {
  Session::Settings settings = example_settings();
  settings.login = {.user = "me", .password = "secret", .db = 3};
  Line line{settings};
  line.session.wake(at(0ms));
  line.send("FIRST", 1, at(0ms));
  line.session.connected(at(1ms));
  CHECK(line.session.state() == State::handshake);
  CHECK(line.session.unsent() == Handshake{settings.login}.bytes());
  CHECK(line.session.worth_waiting_for());
  line.take_bytes();
  const std::vector<Reply> replies = greeting_replies("run", settings.login);
  for (const Reply& reply : replies) {
    CHECK(line.take_bytes().empty());
    CHECK_FALSE(line.session.ready());
    CHECK_FALSE(line.session.answered(reply, at(2ms)));
  }
  CHECK(line.session.ready());
  CHECK(line.session.ready_at() == at(2ms));
  CHECK(line.session.run_id() == "run");
  CHECK(line.session.unsent().empty());
  CHECK(line.session.send_waiting(false, at(2ms)).empty());
  CHECK(line.session.unsent() == "FIRST");
}

TEST_CASE("waiting_grant_commands_are_handed_back_when_the_node_may_not_grant") {
  for (const bool may_grant : {false, true}) {
    CAPTURE(may_grant);
    Line line;
    line.session.wake(at(0ms));
    line.session.send("GRANT", {.operation = Ref<Operation>{line.probe.get()}, .step = 3, .grants = true},
                      never, at(0ms));
    line.release("RELEASE", 4, at(0ms));
    line.session.connected(at(1ms));
    line.take_bytes();
    for (const Reply& reply : greeting_replies("run")) line.session.answered(reply, at(2ms));
    const std::vector<Session::Slot> refused = line.session.send_waiting(may_grant, at(2ms));
    CHECK(refused.size() == (may_grant ? 0 : 1));
    if (!may_grant) CHECK(refused[0].step == 3);
    CHECK(line.session.unsent() == (may_grant ? "GRANTRELEASE" : "RELEASE"));
    CHECK(line.session.answered(ok(), at(3ms))->step == (may_grant ? 3 : 4));
  }
}

TEST_CASE("the_handshake_of_a_guarded_node_reads_its_marker") {
  Session::Settings settings = example_settings();
  settings.guarded = true;
  Line line{settings};
  line.session.wake(at(0ms));
  line.session.connected(at(1ms));
  CHECK(line.session.unsent() == Handshake{{}}.bytes() + look_command());
  for (const Reply& reply : greeting_replies("run")) line.session.answered(reply, at(2ms));
  CHECK_FALSE(line.session.ready());
  line.session.answered(string_reply("the answer"), at(2ms));
  CHECK(line.session.ready());
  CHECK(line.session.marker().text == "the answer");
}

TEST_CASE("a_connection_is_accepted_once_and_only_when_it_was_dialled") {
  Line line;
  line.session.connected(at(0ms));
  CHECK(line.session.state() == State::idle);
  line.make_ready(at(0ms));
  line.session.connected(at(1ms));
  CHECK(line.session.ready());
  CHECK(line.session.unsent().empty());
}

TEST_CASE("replies_match_commands_in_the_order_of_queueing") {
  Line line;
  line.session.wake(at(0ms));
  CHECK(line.send("A", 1, at(0ms)));
  CHECK(line.release("B", 2, at(0ms)));
  line.greet(at(1ms));
  CHECK(line.send("C", 3, at(2ms)));
  CHECK(line.take_bytes() == "ABC");
  CHECK(line.session.pending() == 3);
  for (const Step step : {Step{1}, Step{2}, Step{3}}) {
    const auto slot = line.session.answered(ok(), at(3ms));
    REQUIRE(slot);
    CHECK(slot->step == step);
    CHECK(slot->is_release == (step == 2));
    CHECK(slot->operation.get() == line.probe.get());
  }
  CHECK(line.session.pending() == 0);
}

TEST_CASE("an_expired_command_is_not_sent_on_a_late_connection") {
  Line line;
  line.session.wake(at(0ms));
  line.send("LATE", 1, at(0ms), at(50ms));
  line.send("LATER", 2, at(0ms), at(51ms));
  line.release("RELEASE", 3, at(0ms), at(1000ms));
  line.greet(at(50ms));
  CHECK(line.take_bytes() == "LATERRELEASE");
  const auto slot = line.session.answered(ok(), at(50ms));
  REQUIRE(slot);
  CHECK(slot->step == 2);
}

TEST_CASE("a_node_without_a_connection_refuses_commands_with_the_reason") {
  Line line;
  line.session.wake(at(0ms));
  line.session.disconnected({NodeStatus::unreachable, "refused"}, at(1ms));
  const Trouble* trouble = line.session.send("SET", {}, never, at(1ms));
  REQUIRE(trouble);
  CHECK(trouble->status == NodeStatus::unreachable);
  // Commands are also refused during a redial, as the node may stay down.
  line.session.on_time(line.session.timer());
  REQUIRE(line.session.state() == State::dialling);
  CHECK_FALSE(line.session.worth_waiting_for());
  CHECK_FALSE(line.send("SET", 1, at(100ms)));
  line.greet(at(101ms));
  CHECK(line.take_bytes().empty());
}

TEST_CASE("releases_for_a_node_that_is_down_are_kept_and_sent_when_it_is_back") {
  Line line;
  line.session.wake(at(0ms));
  line.lose(at(1ms));
  CHECK_FALSE(line.release("EXPIRED", 1, at(1ms), at(30ms)));
  CHECK_FALSE(line.release("RELEASE", 2, at(1ms), at(1000ms)));
  line.session.on_time(line.session.timer());
  line.lose(at(60ms));
  line.session.on_time(line.session.timer());
  line.greet(at(300ms));
  CHECK(line.take_bytes() == "RELEASE");
  CHECK(line.session.must_read());
  const auto slot = line.session.answered(number(1), at(301ms));
  REQUIRE(slot);
  CHECK_FALSE(slot->operation);
  CHECK_FALSE(line.session.must_read());
}

TEST_CASE("a_failed_connection_drops_its_waiting_commands_but_keeps_its_releases") {
  Line line;
  line.session.wake(at(0ms));
  line.send("SET", 1, at(0ms));
  line.release("RELEASE", 2, at(0ms));
  line.lose(at(1ms));
  line.session.on_time(line.session.timer());
  line.greet(at(100ms));
  CHECK(line.take_bytes() == "RELEASE");
  CHECK_FALSE(line.session.answered(number(1), at(101ms)).value().operation);
}

TEST_CASE("nothing_queued_on_a_broken_connection_is_sent_on_the_next_one") {
  Line line;
  line.make_ready(at(0ms));
  line.send("SENT", 1, at(2s));
  line.release("SENT TOO", 2, at(2s));
  line.take_bytes();
  line.send("UNSENT", 3, at(2s));
  line.release("UNSENT TOO", 4, at(2s));
  line.lose(at(2s));
  CHECK(line.session.pending() == 0);
  CHECK_FALSE(line.session.must_read());
  line.session.take_closing();
  line.greet(at(2001ms));
  CHECK(line.take_bytes().empty());
}

TEST_CASE("commands_leave_room_in_the_buffer_for_their_releases") {
  const bool connected = GENERATE(true, false);
  Line line;
  line.session.wake(at(0ms));
  if (connected) line.greet(at(0ms));
  const std::size_t mebi = std::size_t{1} << 20U;
  REQUIRE(line.send(std::string(mebi / 2, 's'), 1, at(1ms)));
  const Trouble* trouble = line.session.send("x", {}, never, at(1ms));
  REQUIRE(trouble);
  CHECK(trouble->status == NodeStatus::overloaded);
  CHECK(line.release(std::string(mebi / 2, 'r'), 2, at(1ms)));
  CHECK_FALSE(line.release("x", 3, at(1ms)));
  if (!connected) line.greet(at(2ms));
  CHECK(line.session.unsent().size() == mebi);
  CHECK(line.session.pending() == 2);
  // Bytes that the kernel has taken no longer count.
  line.session.sent(mebi / 2 + 1);
  CHECK(line.send("y", 4, at(3ms)));
  CHECK(line.take_bytes() == std::string(mebi / 2 - 1, 'r') + "y");
}

TEST_CASE("releases_kept_for_a_node_that_is_down_are_bounded") {
  Line line;
  line.session.wake(at(0ms));
  line.lose(at(0ms));
  const std::string release(1024, 'r');
  for (int i = 0; i < 2000; ++i) CHECK_FALSE(line.release(release, 1, at(1ms)));
  CHECK(line.session.send(release, {{}, 1, true}, never, at(1ms))->status == NodeStatus::connection_lost);
  line.session.on_time(line.session.timer());
  line.greet(at(100ms));
  CHECK(line.take_bytes().size() == std::size_t{1024} * 1024);
}

TEST_CASE("an_unsolicited_reply_ends_the_connection") {
  Line line;
  line.make_ready(at(0ms));
  CHECK_FALSE(line.session.answered(error_reply(std::string(500, 'x')), at(1ms)));
  CHECK(line.session.state() == State::down);
  CHECK(line.session.trouble().status == NodeStatus::protocol_error);
  CHECK(line.session.trouble().message == "unexpected reply: " + std::string(100, 'x'));
}

TEST_CASE("replies_read_after_the_end_of_a_connection_are_ignored") {
  Line line;
  line.make_ready(at(0ms));
  line.send("SET", 1, at(1ms));
  line.session.refuse({NodeStatus::same_node, "the same server as another"}, at(1ms));
  CHECK_FALSE(line.session.answered(ok(), at(2ms)));
  CHECK(line.session.state() == State::down);
  CHECK(line.session.trouble().status == NodeStatus::same_node);
}
