// Which bytes go over a connection, in which order, and which command each reply belongs to.
#include "redlock/core/node/session.hpp"

#include <optional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/failing_memory.hpp"
#include "unit/support/session_harness.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::NodeStatus;
using State = Session::State;

}  // namespace

TEST_CASE("nothing_is_dialled_before_the_first_use") {
  SessionHarness harness;
  CHECK(harness.session.state() == State::idle);
  CHECK(harness.session.timer() == never);
  CHECK_FALSE(harness.session.has_errand());
  harness.session.wake(at(0ms));
  CHECK(harness.session.worth_waiting_for());
  CHECK(harness.session.take_dial());
  harness.session.wake(at(1ms));
  CHECK_FALSE(harness.session.take_dial());
}

TEST_CASE("the_handshake_is_sent_first_and_alone") {
  Session::Settings settings = example_settings();
  settings.login = {.user = "me", .password = "secret", .db = 3};
  SessionHarness harness{settings};
  harness.session.wake(at(0ms));
  harness.send("FIRST", 1, at(0ms));
  harness.session.connected();
  CHECK(harness.session.state() == State::handshake);
  CHECK(harness.session.unsent() == Handshake{settings.login}.bytes());
  CHECK(harness.session.worth_waiting_for());
  harness.take_bytes();
  const std::vector<Reply> replies = handshake_replies("run", settings.login);
  for (const Reply& reply : replies) {
    CHECK(harness.take_bytes().empty());
    CHECK_FALSE(harness.session.ready());
    CHECK_FALSE(harness.session.answered(reply, at(2ms)));
  }
  CHECK(harness.session.ready());
  CHECK(harness.session.ready_at() == at(2ms));
  CHECK(harness.session.run_id() == "run");
  CHECK(harness.session.unsent().empty());
  const auto no_end = [](const Session::Slot&) { return std::optional<std::string>{""}; };
  CHECK(harness.session.send_waiting(no_end, at(2ms)).empty());
  CHECK(harness.session.unsent() == "FIRST");
}

TEST_CASE("waiting_grant_commands_are_handed_back_when_the_node_may_not_grant") {
  for (const bool may_grant : {false, true}) {
    CAPTURE(may_grant);
    SessionHarness harness;
    harness.session.wake(at(0ms));
    harness.session.send("GRANT",
                         {.operation = Ref<Operation>{harness.operation.get()}, .step = 3, .grants = true},
                         never, at(0ms));
    harness.release("RELEASE", 4, at(0ms));
    harness.session.connected();
    harness.take_bytes();
    for (const Reply& reply : handshake_replies("run")) harness.session.answered(reply, at(2ms));
    const auto rest_of = [may_grant](const Session::Slot& slot) {
      return slot.grants && !may_grant ? std::nullopt : std::optional<std::string>{slot.grants ? "ED" : ""};
    };
    const std::vector<Session::Slot> refused = harness.session.send_waiting(rest_of, at(2ms));
    CHECK(refused.size() == (may_grant ? 0 : 1));
    if (!may_grant) CHECK(refused[0].step == 3);
    CHECK(harness.session.unsent() == (may_grant ? "GRANTEDRELEASE" : "RELEASE"));
    CHECK(harness.session.answered(ok(), at(3ms))->step == (may_grant ? 3 : 4));
  }
}

TEST_CASE("the_handshake_of_a_guarded_node_reads_its_marker") {
  Session::Settings settings = example_settings();
  settings.look = look_command();
  SessionHarness harness{settings};
  harness.session.wake(at(0ms));
  harness.session.connected();
  CHECK(harness.session.unsent() == std::string{Handshake{{}}.bytes()} + look_command());
  for (const Reply& reply : handshake_replies("run")) harness.session.answered(reply, at(2ms));
  CHECK_FALSE(harness.session.ready());
  harness.session.answered(string_reply("the answer"), at(2ms));
  CHECK(harness.session.ready());
  CHECK(harness.session.marker().text == "the answer");
}

TEST_CASE("a_connection_is_accepted_once_and_only_when_it_was_dialled") {
  SessionHarness harness;
  harness.session.connected();
  CHECK(harness.session.state() == State::idle);
  harness.make_ready(at(0ms));
  harness.session.connected();
  CHECK(harness.session.ready());
  CHECK(harness.session.unsent().empty());
}

TEST_CASE("replies_match_commands_in_the_order_of_queueing") {
  SessionHarness harness;
  harness.session.wake(at(0ms));
  CHECK(harness.send("A", 1, at(0ms)));
  CHECK(harness.release("B", 2, at(0ms)));
  harness.connect(at(1ms));
  CHECK(harness.send("C", 3, at(2ms)));
  CHECK(harness.take_bytes() == "ABC");
  CHECK(harness.session.pending() == 3);
  for (const Step step : {Step{1}, Step{2}, Step{3}}) {
    const auto slot = harness.session.answered(ok(), at(3ms));
    REQUIRE(slot);
    CHECK(slot->step == step);
    CHECK(slot->is_release == (step == 2));
    CHECK(slot->operation.get() == harness.operation.get());
  }
  CHECK(harness.session.pending() == 0);
}

TEST_CASE("an_expired_command_is_not_sent_on_a_late_connection") {
  SessionHarness harness;
  harness.session.wake(at(0ms));
  harness.send("LATE", 1, at(0ms), at(50ms));
  harness.send("LATER", 2, at(0ms), at(51ms));
  harness.release("RELEASE", 3, at(0ms), at(1000ms));
  harness.connect(at(50ms));
  CHECK(harness.take_bytes() == "LATERRELEASE");
  const auto slot = harness.session.answered(ok(), at(50ms));
  REQUIRE(slot);
  CHECK(slot->step == 2);
}

TEST_CASE("a_node_without_a_connection_refuses_commands_with_the_reason") {
  SessionHarness harness;
  harness.session.wake(at(0ms));
  harness.session.disconnected({NodeStatus::unreachable, "refused"}, at(1ms));
  const Trouble* trouble = harness.session.send("SET", {}, never, at(1ms));
  REQUIRE(trouble);
  CHECK(trouble->status == NodeStatus::unreachable);
  // Commands are also refused during a redial, as the node may stay down.
  harness.session.on_time(harness.session.timer());
  REQUIRE(harness.session.state() == State::dialling);
  CHECK_FALSE(harness.session.worth_waiting_for());
  CHECK_FALSE(harness.send("SET", 1, at(100ms)));
  harness.connect(at(101ms));
  CHECK(harness.take_bytes().empty());
}

TEST_CASE("releases_for_a_node_that_is_down_are_kept_and_sent_when_it_is_back") {
  SessionHarness harness;
  harness.session.wake(at(0ms));
  harness.disconnect(at(1ms));
  CHECK_FALSE(harness.release("EXPIRED", 1, at(1ms), at(30ms)));
  CHECK_FALSE(harness.release("RELEASE", 2, at(1ms), at(1000ms)));
  harness.session.on_time(harness.session.timer());
  harness.disconnect(at(60ms));
  harness.session.on_time(harness.session.timer());
  harness.connect(at(300ms));
  CHECK(harness.take_bytes() == "RELEASE");
  CHECK(harness.session.must_read());
  const auto slot = harness.session.answered(number(1), at(301ms));
  REQUIRE(slot);
  CHECK_FALSE(slot->operation);
  CHECK_FALSE(harness.session.must_read());
}

TEST_CASE("a_failed_connection_drops_its_waiting_commands_but_keeps_its_releases") {
  SessionHarness harness;
  harness.session.wake(at(0ms));
  harness.send("SET", 1, at(0ms));
  harness.release("RELEASE", 2, at(0ms));
  harness.disconnect(at(1ms));
  harness.session.on_time(harness.session.timer());
  harness.connect(at(100ms));
  CHECK(harness.take_bytes() == "RELEASE");
  CHECK_FALSE(harness.session.answered(number(1), at(101ms)).value().operation);
}

TEST_CASE("nothing_queued_on_a_broken_connection_is_sent_on_the_next_one") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.send("SENT", 1, at(2s));
  harness.release("SENT TOO", 2, at(2s));
  harness.take_bytes();
  harness.send("UNSENT", 3, at(2s));
  harness.release("UNSENT TOO", 4, at(2s));
  harness.disconnect(at(2s));
  CHECK(harness.session.pending() == 0);
  CHECK_FALSE(harness.session.must_read());
  harness.session.take_closing();
  harness.connect(at(2001ms));
  CHECK(harness.take_bytes().empty());
}

TEST_CASE("commands_leave_room_in_the_buffer_for_their_releases") {
  const bool connected = GENERATE(true, false);
  SessionHarness harness;
  harness.session.wake(at(0ms));
  if (connected) harness.connect(at(0ms));
  const std::size_t room = std::size_t{3} << 19U;
  REQUIRE(harness.send(std::string(room, 's'), 1, at(1ms)));
  const Trouble* trouble = harness.session.send("x", {}, never, at(1ms));
  REQUIRE(trouble);
  CHECK(trouble->status == NodeStatus::overloaded);
  CHECK(trouble->message == "more than 1.5 MiB are waiting to be sent");
  CHECK(harness.release(std::string(room, 'r'), 2, at(1ms)));
  CHECK_FALSE(harness.release("x", 3, at(1ms)));
  if (!connected) harness.connect(at(2ms));
  CHECK(harness.session.unsent().size() == 2 * room);
  CHECK(harness.session.pending() == 2);
  // Bytes that the kernel has taken no longer count.
  harness.session.sent(room + 1);
  CHECK(harness.send("y", 4, at(3ms)));
  CHECK(harness.take_bytes() == std::string(room - 1, 'r') + "y");
}

TEST_CASE("releases_kept_for_a_node_that_is_down_are_bounded") {
  SessionHarness harness;
  harness.session.wake(at(0ms));
  harness.disconnect(at(0ms));
  const std::string release(1024, 'r');
  for (int i = 0; i < 4000; ++i) CHECK_FALSE(harness.release(release, 1, at(1ms)));
  CHECK(harness.session.send(release, {{}, 1, true}, never, at(1ms))->status == NodeStatus::connection_lost);
  harness.session.on_time(harness.session.timer());
  harness.connect(at(100ms));
  CHECK(harness.take_bytes().size() == std::size_t{3} * 1024 * 1024);
}

TEST_CASE("unanswered_commands_are_limited_and_releases_are_sent_nevertheless") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  const auto most = std::size_t{16384};
  for (std::size_t i = 0; i < most; ++i) REQUIRE(harness.send("x", 1, at(1ms)));
  harness.take_bytes();
  const Trouble* trouble = harness.session.send("y", {}, never, at(1ms));
  REQUIRE(trouble);
  CHECK(trouble->status == NodeStatus::overloaded);
  CHECK(trouble->message == "more than 16384 commands are unanswered");

  // The release is sent, but its reply will be ignored.
  CHECK_FALSE(harness.release("release", 2, at(1ms)));
  CHECK(harness.take_bytes() == "release");
  CHECK(harness.session.pending() == most + 1);
  while (harness.session.pending() < 65536) harness.release("r", 2, at(1ms));
  harness.take_bytes();
  CHECK_FALSE(harness.release("r", 2, at(1ms)));
  CHECK(harness.take_bytes().empty());

  // The replies still belong to the commands in their order.
  for (std::size_t i = 0; i < most; ++i) REQUIRE(harness.session.answered(ok(), at(2ms))->step == 1);
  const auto slot = harness.session.answered(ok(), at(2ms));
  REQUIRE(slot);
  CHECK(slot->is_release);
  CHECK_FALSE(slot->operation);
}

TEST_CASE("an_unsolicited_reply_ends_the_connection") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  CHECK_FALSE(harness.session.answered(error_reply(std::string(500, 'x')), at(1ms)));
  CHECK(harness.session.state() == State::down);
  CHECK(harness.session.trouble().status == NodeStatus::protocol_error);
  CHECK(harness.session.trouble().message == "unexpected reply: " + std::string(100, 'x'));
}

TEST_CASE("replies_read_after_the_end_of_a_connection_are_ignored") {
  SessionHarness harness;
  harness.make_ready(at(0ms));
  harness.send("SET", 1, at(1ms));
  harness.session.refuse({NodeStatus::same_node, "the same server as another"}, at(1ms), 10s);
  CHECK_FALSE(harness.session.answered(ok(), at(2ms)));
  CHECK(harness.session.state() == State::down);
  CHECK(harness.session.trouble().status == NodeStatus::same_node);
}

// Without its slot, each later reply would be taken for that of the command before.
TEST_CASE("a_command_is_not_sent_if_there_is_no_memory_for_the_slot_of_its_reply") {
  const std::string first(40, 'a');
  const std::string second(40, 'b');
  bool has_memory = false;
  for (int successes = 0; !has_memory; ++successes) {
    SessionHarness harness;
    harness.make_ready(at(0ms));
    int sent = 0;
    has_memory = true;
    // Grows what has to grow.
    for (; has_memory && sent < 40; sent += has_memory ? 1 : 0)
      has_memory = succeeds_with(successes, [&] { harness.send(first, 1, at(0ms)); });
    CAPTURE(successes, sent);
    CHECK(harness.session.pending() == static_cast<std::size_t>(sent));
    CHECK(harness.session.unsent().size() == first.size() * static_cast<std::size_t>(sent));
    CHECK(harness.send(second, 2, at(0ms)));
    CHECK(harness.session.unsent().ends_with(second));
    CHECK(harness.session.pending() == static_cast<std::size_t>(sent) + 1);
  }
}
