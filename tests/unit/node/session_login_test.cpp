// A connection whose credentials change.
#include "redlock/core/node/session_login.hpp"

#include <string>
#include <vector>

#include "redlock/core/node/session.hpp"
#include "redlock/core/wire/resp.hpp"
#include "support/catch.hpp"
#include "unit/support/session_harness.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Credentials;
using State = Session::State;

const Credentials changed{"app", "new"};
const std::string auth = command({"AUTH", "app", "new"});

Reply wrong() { return error_reply("WRONGPASS invalid username-password pair or user is disabled."); }

/// What the server answers to the handshake of a connection with credentials.
std::vector<Reply> greeting() { return handshake_replies("run", Login{.user = "app", .password = "old"}); }

/// A connection with the user "app" and the password "old".
struct LoggedIn : SessionHarness {
  explicit LoggedIn(Purpose purpose = Purpose::commands) : SessionHarness{settings(purpose)} {}
  static Session::Settings settings(Purpose purpose) {
    Session::Settings settings = example_settings();
    settings.login = {.user = "app", .password = "old"};
    settings.purpose = purpose;
    return settings;
  }
  void make_ready(Time now) {
    session.wake(now);
    session.take_dial();
    session.connected();
    take_bytes();
    for (const Reply& reply : greeting()) session.answered(reply, now);
    REQUIRE(session.ready());
  }
  /// The next reply is for the login. Returns whether it is the first refusal.
  bool login_answered(const Reply& reply, Time now) {
    const auto slot = session.answered(reply, now);
    REQUIRE(slot);
    REQUIRE(slot->is_login);
    CHECK_FALSE(slot->operation);
    return session.login().answered(reply);
  }
};

}  // namespace

TEST_CASE("changed_credentials_are_sent_between_the_commands_of_operations") {
  LoggedIn harness;
  harness.make_ready(at(0ms));
  harness.send("A", 1, at(1ms));
  harness.session.log_in(changed, at(1ms));
  harness.send("B", 2, at(1ms));
  CHECK(harness.take_bytes() == "A" + auth + "B");
  CHECK(harness.session.must_read());
  CHECK(harness.session.answered(ok(), at(2ms))->step == 1);
  CHECK_FALSE(harness.session.login().is_accepted());
  CHECK_FALSE(harness.login_answered(ok(), at(2ms)));
  CHECK(harness.session.login().is_accepted());
  CHECK(harness.session.answered(ok(), at(2ms))->step == 2);
  CHECK_FALSE(harness.session.must_read());
}

TEST_CASE("credentials_that_are_accepted_or_unanswered_are_not_sent_again") {
  LoggedIn harness;
  harness.make_ready(at(0ms));
  harness.session.log_in({"app", "old"}, at(1ms));
  CHECK(harness.take_bytes().empty());
  harness.session.log_in(changed, at(1ms));
  harness.take_bytes();
  harness.session.log_in(changed, at(2ms));
  CHECK(harness.take_bytes().empty());
  harness.login_answered(ok(), at(3ms));
  harness.session.log_in(changed, at(3ms));
  CHECK(harness.take_bytes().empty());
}

TEST_CASE("a_refused_login_leaves_the_connection_and_is_tried_again_with_the_next_credentials") {
  LoggedIn harness;
  harness.make_ready(at(0ms));
  harness.session.log_in(changed, at(1ms));
  harness.take_bytes();
  CHECK(harness.login_answered(wrong(), at(2ms)));
  CHECK(harness.session.ready());
  CHECK_FALSE(harness.session.login().is_accepted());
  CHECK(harness.send("A", 1, at(3ms)));
  harness.session.log_in(changed, at(3ms));
  CHECK(harness.take_bytes() == "A" + auth);
  CHECK(harness.session.answered(ok(), at(4ms))->step == 1);
  CHECK_FALSE(harness.login_answered(wrong(), at(4ms)));  // these were refused before
  harness.session.log_in({"app", "newer"}, at(5ms));
  CHECK(harness.take_bytes() == command({"AUTH", "app", "newer"}));
  CHECK(harness.login_answered(wrong(), at(6ms)));
  harness.session.log_in({"app", "old"}, at(7ms));
  CHECK(harness.take_bytes() == command({"AUTH", "app", "old"}));
  CHECK_FALSE(harness.login_answered(ok(), at(8ms)));
  CHECK(harness.session.login().is_accepted());
}

TEST_CASE("only_the_answer_to_the_last_credentials_counts") {
  for (const bool accepted : {true, false}) {
    CAPTURE(accepted);
    LoggedIn harness;
    harness.make_ready(at(0ms));
    harness.session.log_in({"app", "never mind"}, at(1ms));
    harness.session.log_in(changed, at(1ms));
    CHECK(harness.take_bytes() == command({"AUTH", "app", "never mind"}) + auth);
    CHECK_FALSE(harness.login_answered(accepted ? wrong() : ok(), at(2ms)));
    CHECK_FALSE(harness.session.login().is_accepted());
    CHECK(harness.login_answered(accepted ? ok() : wrong(), at(2ms)) != accepted);
    CHECK(harness.session.login().is_accepted() == accepted);
  }
}

TEST_CASE("credentials_that_change_during_the_handshake_are_sent_after_it") {
  LoggedIn harness;
  harness.session.wake(at(0ms));
  harness.session.connected();
  const std::string handshake = harness.take_bytes();
  CHECK(handshake.starts_with(command({"AUTH", "app", "old"})));
  harness.session.log_in(changed, at(1ms));
  CHECK(harness.take_bytes().empty());
  for (const Reply& reply : greeting()) harness.session.answered(reply, at(2ms));
  CHECK(harness.session.ready());
  CHECK_FALSE(harness.session.login().is_accepted());
  CHECK(harness.take_bytes() == auth);
  harness.login_answered(ok(), at(3ms));
  CHECK(harness.session.login().is_accepted());
}

TEST_CASE("the_next_connection_begins_with_the_changed_credentials") {
  LoggedIn harness;
  harness.make_ready(at(0ms));
  harness.session.log_in(changed, at(1ms));  // unanswered when the connection is lost
  harness.disconnect(at(2ms));
  harness.session.take_closing();
  harness.session.on_time(harness.session.timer());
  harness.session.connected();
  CHECK(harness.take_bytes().starts_with(auth));
  for (const Reply& reply : greeting()) harness.session.answered(reply, at(500ms));
  CHECK(harness.session.ready());
  CHECK(harness.session.pending() == 0);
  CHECK(harness.session.login().is_accepted());
}

TEST_CASE("empty_credentials_are_not_sent_and_take_no_reply_from_a_command") {
  LoggedIn harness;
  harness.make_ready(at(0ms));
  harness.session.log_in({}, at(1ms));
  CHECK(harness.session.pending() == 0);
  CHECK(harness.session.login().is_accepted());
  harness.send("A", 1, at(1ms));
  CHECK(harness.take_bytes() == "A");
  CHECK(harness.session.answered(ok(), at(2ms))->step == 1);
  harness.disconnect(at(5s));
  harness.session.connected();
  CHECK(harness.take_bytes().find("AUTH") == std::string::npos);
}

TEST_CASE("a_login_does_not_count_as_use_of_the_connection") {
  LoggedIn harness;
  harness.make_ready(at(0ms));
  harness.session.log_in(changed, at(2s));
  CHECK(harness.session.stale(at(2s)));  // so the next operation reads before it writes
}

TEST_CASE("a_listener_is_replaced_when_the_credentials_change") {
  LoggedIn harness{Purpose::listening};
  CHECK_FALSE(harness.session.redial_with(changed, at(0ms)));  // not in use
  CHECK_FALSE(harness.session.has_errand());
  harness.session.wake(at(0ms));
  harness.session.take_dial();
  harness.session.connected();
  CHECK(harness.take_bytes().starts_with(auth));
  CHECK_FALSE(harness.session.redial_with(changed, at(1ms)));
  CHECK_FALSE(harness.session.has_errand());
  CHECK(harness.session.redial_with({"app", "newer"}, at(2ms)));
  REQUIRE(harness.session.take_closing());
  CHECK(harness.session.take_dial());
  CHECK(harness.session.state() == State::dialling);
  harness.session.connected();
  CHECK(harness.take_bytes().starts_with(command({"AUTH", "app", "newer"})));
}

TEST_CASE("a_listener_that_was_closed_for_a_while_waits_for_the_end_of_it_with_the_changed_credentials") {
  LoggedIn harness{Purpose::listening};
  harness.session.wake(at(0ms));
  harness.session.refuse(lost_connection(), at(0ms), 1min);
  harness.session.take_closing();
  CHECK_FALSE(harness.session.redial_with(changed, at(1s)));
  CHECK(harness.session.state() == State::down);
  harness.session.wake(at(1min));
  CHECK(harness.session.take_dial());
  harness.session.connected();
  CHECK(harness.take_bytes().starts_with(auth));
}
