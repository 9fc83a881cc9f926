// What the listeners tell their watchers, and how they arm keys.
#include "redlock/core/watch/listeners.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/recording_operation.hpp"
#include "unit/support/recording_outbox.hpp"
#include "unit/support/session_harness.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::NodeStatus;
using Events = std::vector<std::string>;

struct RecordingWatcher final : Watcher {
  void key_changed(NodeIndex node, std::string_view key, Time) override { note(node, "changed", key); }
  void all_keys_changed(NodeIndex node, Time) override { note(node, "all changed", ""); }
  void message(NodeIndex node, std::string_view channel, std::string_view payload, Time) override {
    note(node, channel, payload);
  }
  void note(NodeIndex node, std::string_view what, std::string_view details) {
    events.push_back(std::to_string(node) + " " + std::string{what} + " " + std::string{details});
  }
  Events take() { return std::exchange(events, {}); }

  Events events;
};

Reply message(const std::string& channel, Reply content) {
  return array_reply({string_reply("message"), string_reply(channel), std::move(content)});
}
Reply change_of(const std::string& key) {
  return message("__redis__:invalidate", array_reply({string_reply(key)}));
}

/// Two nodes that are connected, and whose listeners are ready with the client ids 100 and 101.
struct ListenersHarness {
  ListenersHarness() {
    listeners.add(first);
    listeners.add(second);
    listeners.begin_watch();
    listeners.wake(at(0ms));
    for (NodeIndex node = 0; node < 2; ++node) {
      listeners.node_connected(node, true, at(0ms));
      connect(node, at(0ms));
    }
    first.take();
    second.take();
  }

  void connect(NodeIndex node, Time now) {
    Session& session = listeners.session(node);
    session.take_closing();
    CHECK(session.take_dial());
    session.connected();
    session.sent(session.unsent().size());
    listeners.received(node, number(100 + static_cast<long long>(node)), now);
    listeners.received(node, message("subscribe", number(1)), now);
    CHECK(session.ready());
  }
  /// Arms a key on the first node, and returns what was sent for that.
  std::vector<std::string> arm() {
    CHECK(listeners.arm(0, *sender, 3, 4, outbox));
    std::vector<std::string> commands;
    for (const Sent& sent : outbox.take()) commands.push_back(sent.command);
    return commands;
  }

  Listeners listeners{{example_settings("node 0"), example_settings("node 1")}};
  RecordingWatcher first;
  RecordingWatcher second;
  RecordingOutbox outbox{2};
  Ref<RecordingOperation> sender{new RecordingOperation{{}}};
};

const std::string tracking = command({"CLIENT", "TRACKING", "ON", "REDIRECT", "100", "OPTIN", "NOLOOP"});
const std::string caching = command({"CLIENT", "CACHING", "YES"});
using Commands = std::vector<std::string>;

}  // namespace

TEST_CASE("every_watcher_is_told_of_each_changed_key") {
  ListenersHarness harness;
  harness.listeners.received(
      1, message("__redis__:invalidate", array_reply({string_reply("one"), string_reply("other")})), at(1ms));
  CHECK(harness.first.take() == Events{"1 changed one", "1 changed other"});
  CHECK(harness.second.take() == Events{"1 changed one", "1 changed other"});
}

TEST_CASE("an_invalidation_without_a_key_means_that_all_keys_may_have_changed") {
  ListenersHarness harness;
  harness.listeners.received(0, message("__redis__:invalidate", nil()), at(1ms));
  CHECK(harness.first.take() == Events{"0 all changed "});
}

TEST_CASE("a_message_on_another_channel_is_passed_on_and_changes_no_key") {
  ListenersHarness harness;
  harness.listeners.received(0, message("turns", string_reply("key")), at(1ms));
  CHECK(harness.first.take() == Events{"0 turns key"});
  CHECK(harness.second.take() == Events{"0 turns key"});
}

TEST_CASE("messages_on_other_channels_count_as_well_when_a_node_sends_too_many") {
  ListenersHarness harness;
  for (int i = 0; i < 1002; ++i)
    harness.listeners.received(0, message("turns", string_reply("key")), at(1ms));
  CHECK(harness.listeners.session(0).ready());
  harness.listeners.received(0, change_of("key"), at(1ms));
  CHECK_FALSE(harness.listeners.session(0).ready());
  CHECK(harness.first.events.back() == "0 all changed ");
}

TEST_CASE("tracking_is_turned_on_once_for_a_connection_and_every_read_is_preceded_by_caching") {
  ListenersHarness harness;
  CHECK(harness.arm() == Commands{tracking, caching});
  CHECK(harness.arm() == Commands{caching});
  SECTION("another connection for commands") { harness.listeners.node_connected(0, true, at(1ms)); }
  SECTION("another listener") {
    harness.listeners.disconnected(0, lost_connection(), at(2s));
    CHECK(harness.arm().empty());
    harness.connect(0, at(2s));
  }
  CHECK(harness.arm() == Commands{tracking, caching});
  CHECK(harness.first.take().front() == "0 all changed ");
}

TEST_CASE("the_replies_to_the_arming_commands_are_told_apart_by_the_senders_steps") {
  ListenersHarness harness;
  CHECK(harness.listeners.arm(0, *harness.sender, 3, 4, harness.outbox));
  const auto sent = harness.outbox.take();
  REQUIRE(sent.size() == 2);
  CHECK(sent[0].options.step == 3);
  CHECK(sent[1].options.step == 4);
}

TEST_CASE("arming_that_cannot_be_sent_is_repeated_in_full") {
  ListenersHarness harness;
  harness.outbox.refuse(0);
  CHECK_FALSE(harness.listeners.arm(0, *harness.sender, 3, 4, harness.outbox));
  CHECK(harness.outbox.take().size() == 1);
  harness.outbox.accept(0);
  CHECK(harness.arm() == Commands{tracking, caching});
}

TEST_CASE("a_node_that_refuses_tracking_is_blind_until_its_connection_is_replaced") {
  ListenersHarness harness;
  harness.arm();
  harness.listeners.tracking_refused(0, {NodeStatus::server_error, "NOPERM"}, at(1ms));
  CHECK(harness.listeners.blind_nodes() == set_of(0));
  CHECK(harness.first.take() == Events{"0 all changed "});
  CHECK(harness.arm().empty());
  // The refusal of the second command says nothing new.
  harness.listeners.tracking_refused(0, {NodeStatus::server_error, "NOPERM"}, at(1ms));
  CHECK(harness.first.take().empty());
  harness.listeners.node_connected(0, true, at(1s));
  CHECK(harness.listeners.blind_nodes() == 0);
  CHECK(harness.arm() == Commands{tracking, caching});
}

TEST_CASE("a_warning_shows_what_a_server_said_escaped_and_cut_off") {
  ListenersHarness harness;
  harness.arm();
  harness.listeners.tracking_refused(0, {NodeStatus::server_error, "ERR \x1b[2J\n" + std::string(300, 'x')},
                                     at(1ms));
  const std::string shown = "ERR \\x1b[2J\\x0a" + std::string(191, 'x') + "...";
  CHECK(harness.listeners.take_warning() ==
        "node 0 sends no invalidation messages, so the client polls it every tenth of a ttl: " + shown);
}

TEST_CASE("a_lost_listener_is_replaced_only_while_a_key_is_watched") {
  ListenersHarness harness;
  harness.listeners.disconnected(0, lost_connection(), at(1ms));
  CHECK(harness.listeners.timer() < at(1s));
  harness.listeners.end_watch();
  CHECK(harness.listeners.timer() == never);
  harness.listeners.on_time(at(1s));
  CHECK_FALSE(harness.listeners.session(0).take_dial());
  harness.listeners.begin_watch();
  harness.listeners.on_time(at(1s));
  CHECK(harness.listeners.session(0).take_dial());
}
