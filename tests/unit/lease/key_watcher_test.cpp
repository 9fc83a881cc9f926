// How the key watcher notices copies that are gone.
#include "redlock/core/lease/key_watcher.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lease/release_operation.hpp"
#include "support/catch.hpp"
#include "unit/support/listening_engine.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Loss;
using redlock::State;

const std::string reading = command({"GETRANGE", "key", "0", "2"});
const std::string arming = caching_on + reading;

/// One lease that is watched from the start.
struct WatcherHarness : ListeningEngine {
  explicit WatcherHarness(Claim claim = example_claim(), Span lasts = 1h) {
    lease = example_lease(lasts, std::move(claim));
    engine.watch(lease, at(0ms));
  }

  /// Answers all commands sent to a node; the key has this value.
  std::string answer(NodeIndex node, const std::string& value, Time now) {
    std::string sent = take_bytes(node);
    for (std::string_view rest = sent; !rest.empty();) {
      const std::size_t end = rest.find("\r\n*", 1);
      const std::string_view command = rest.substr(0, end == rest.npos ? rest.size() : end + 2);
      engine.answered(node, command.find("CLIENT") != command.npos ? ok() : string_reply(value), now);
      rest.remove_prefix(command.size());
    }
    return sent;
  }
  /// Every node has our value and will report the next change.
  void arm(Time now) {
    engine.on_time(now);
    for (NodeIndex node = 0; node < 3; ++node) answer(node, "me", now);
    for (NodeIndex node = 0; node < 3; ++node) connect_listener(node, now);
    engine.on_time(now);
    for (NodeIndex node = 0; node < 3; ++node)
      CHECK(answer(node, "me", now) == tracking_on(100 + static_cast<int>(node)) + arming);
  }
  /// Reports a change of the key, and answers the read that follows with `found`.
  void change(NodeIndex node, const Reply& found, Time now) {
    engine.answered(listener(node), push("key"), now);
    engine.on_time(now);
    CHECK(take_bytes(node) == arming);
    engine.answered(node, ok(), now);
    engine.answered(node, found, now);
  }
  void change(NodeIndex node, const char* value, Time now) { change(node, string_reply(value), now); }
  std::shared_ptr<LeaseState> lease;
};

/// Leases with keys of their own, all of them watched.
std::vector<std::shared_ptr<LeaseState>> watch_leases(Engine& engine, int count, Time now) {
  std::vector<std::shared_ptr<LeaseState>> held;
  for (int i = 0; i < count; ++i) {
    Claim claim = example_claim();
    claim.key = "key " + std::to_string(i);
    held.push_back(example_lease(1h, claim));
    engine.watch(held.back(), now);
  }
  return held;
}

}  // namespace

TEST_CASE("a_lease_that_is_held_only_briefly_is_not_watched") {
  WatcherHarness watcher;
  watcher.engine.on_time(at(4ms));
  CHECK(watcher.is_quiet());
  watcher.engine.submit(Ref<Operation>{new ReleaseOperation{watcher.lease, 3}}, at(4ms));
  for (NodeIndex node = 0; node < 3; ++node)
    CHECK(watcher.take_bytes(node) == watcher.lease->claim.release_command());
  CHECK(watcher.engine.watched() == 0);
  watcher.engine.on_time(at(1h));
  CHECK(watcher.is_quiet());
  CHECK_FALSE(watcher.engine.session(watcher.listener(0)).has_errand());
}

TEST_CASE("a_watched_lease_is_read_first_and_armed_once_the_listeners_are_ready") {
  WatcherHarness watcher;
  CHECK(watcher.engine.background_timer() == at(5ms));
  watcher.engine.on_time(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) CHECK(watcher.answer(node, "me", at(6ms)) == reading);
  watcher.connect_listener(1, at(7ms));
  watcher.engine.on_time(at(7ms));
  CHECK(watcher.answer(1, "me", at(8ms)) == tracking_on(101) + arming);
  // The other nodes have no listener yet.
  for (const NodeIndex node : {0U, 2U}) CHECK(watcher.answer(node, "me", at(8ms)) == reading);
  CHECK(watcher.is_quiet());
  CHECK(watcher.lease->state(at(8ms)) == State::held);
}

TEST_CASE("copies_that_are_gone_at_the_first_read_are_detected") {
  WatcherHarness watcher;
  watcher.engine.on_time(at(5ms));
  watcher.answer(0, "", at(6ms));
  CHECK(watcher.lease->state(at(6ms)) == State::held);
  watcher.answer(2, "", at(6ms));
  CHECK(watcher.lease->loss(at(6ms)) == Loss::deleted);
}

TEST_CASE("a_majority_without_our_value_is_a_loss_and_the_remaining_copies_stay") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  const bool taken = GENERATE(false, true);
  watcher.change(0, "", at(10ms));
  CHECK(watcher.lease->state(at(10ms)) == State::held);
  watcher.change(2, taken ? "you" : "", at(12ms));
  CHECK(watcher.lease->loss(at(12ms)) == (taken ? Loss::taken : Loss::deleted));
  CHECK(watcher.is_quiet());
  CHECK(watcher.engine.watched() == 0);
  CHECK(watcher.engine.background_timer() == never);
}

TEST_CASE("a_key_of_another_type_in_its_place_is_also_a_loss") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  for (const NodeIndex node : {0U, 1U}) watcher.change(node, wrongtype(), at(11ms));
  CHECK(watcher.lease->loss(at(11ms)) == Loss::taken);
}

TEST_CASE("a_longer_value_that_begins_like_ours_is_another_owners") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  watcher.change(0, "me!", at(10ms));
  watcher.change(1, "me!", at(10ms));
  CHECK(watcher.lease->loss(at(11ms)) == Loss::taken);
}

TEST_CASE("a_change_that_leaves_our_value_is_no_loss_and_the_key_stays_watched") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  for (int round = 0; round < 5; ++round)
    for (NodeIndex node = 0; node < 3; ++node) watcher.change(node, "me", at(10ms));
  CHECK(watcher.lease->state(at(10ms)) == State::held);
  CHECK(watcher.is_quiet());
}

TEST_CASE("a_copy_that_came_back_does_not_count_as_missing") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  watcher.change(0, "", at(10ms));
  watcher.change(0, "me", at(11ms));
  watcher.change(1, "", at(12ms));
  CHECK(watcher.lease->state(at(12ms)) == State::held);
  watcher.change(2, "you", at(13ms));
  CHECK(watcher.lease->loss(at(13ms)) == Loss::taken);
}

TEST_CASE("errors_and_silence_are_no_votes") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  for (const NodeIndex node : {1U, 2U}) watcher.change(node, loading(), at(11ms));
  watcher.engine.answered(watcher.listener(0), push("key"), at(11ms));  // without a reply to the read
  watcher.engine.on_time(at(11ms));
  CHECK(watcher.lease->state(at(11ms)) == State::held);
}

TEST_CASE("a_change_of_an_unwatched_key_is_ignored") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  watcher.engine.answered(watcher.listener(0), push("kez"), at(10ms));
  watcher.engine.on_time(at(10ms));
  CHECK(watcher.is_quiet());
}

TEST_CASE("a_flushed_node_is_asked_about_every_lease") {
  WatcherHarness watcher;
  Claim other = example_claim();
  other.key = "other";
  const auto second = example_lease(1h, other);
  watcher.engine.watch(second, at(0ms));
  watcher.engine.on_time(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) watcher.take_bytes(node);
  for (NodeIndex node = 0; node < 3; ++node) watcher.connect_listener(node, at(5ms));
  watcher.engine.on_time(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) watcher.take_bytes(node);
  watcher.engine.answered(watcher.listener(1), push_of(nil()), at(10ms));
  watcher.engine.on_time(at(10ms));
  const std::string other_read = caching_on + command({"GETRANGE", "other", "0", "2"});
  const std::string sent = watcher.take_bytes(1);
  CHECK((sent == arming + other_read || sent == other_read + arming));
  CHECK(watcher.is_quiet());
}

TEST_CASE("an_extension_arms_its_lease_again_in_the_same_batch") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  watcher.engine.submit(Ref<Operation>{new Extension{watcher.lease, 3}}, at(10ms));
  for (NodeIndex node = 0; node < 3; ++node)
    CHECK(watcher.take_bytes(node) == watcher.lease->claim.extend_command() + arming);
  for (NodeIndex node = 0; node < 3; ++node) {
    watcher.engine.answered(node, number(node == 0 ? 0 : 1), at(11ms));
    watcher.engine.answered(node, ok(), at(11ms));
    watcher.engine.answered(node, string_reply(node == 0 ? "" : "me"), at(11ms));
  }
  // The lease is also armed after its copy is put back.
  CHECK(watcher.answer(0, "me", at(12ms)) == watcher.lease->claim.put_back_command() + arming);
  watcher.change(1, "", at(13ms));
  CHECK(watcher.lease->state(at(13ms)) == State::held);
}

TEST_CASE("a_read_that_does_not_fit_into_the_buffer_is_sent_later") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  // At most 1.5 MiB may wait. The remaining room is just enough for the extension.
  const std::size_t room = (std::size_t{3} << 19U) - watcher.lease->claim.extend_command().size();
  watcher.harness.submit({.nodes = 1, .command = std::string(room, 'x')}, at(10ms));
  watcher.engine.submit(Ref<Operation>{new Extension{watcher.lease, 3}}, at(10ms));
  const std::string sent = watcher.take_bytes(0);
  REQUIRE(sent.find(watcher.lease->claim.extend_command()) != sent.npos);
  REQUIRE(sent.find(reading) == sent.npos);
  CHECK(watcher.engine.timer() < at(10ms));
  watcher.engine.on_time(at(11ms));
  CHECK(watcher.take_bytes(0) == arming);
}

TEST_CASE("nothing_is_read_after_a_release") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  watcher.engine.submit(Ref<Operation>{new ReleaseOperation{watcher.lease, 3}}, at(10ms));
  for (NodeIndex node = 0; node < 3; ++node)
    CHECK(watcher.take_bytes(node) == watcher.lease->claim.release_command());
  for (NodeIndex node = 0; node < 3; ++node) watcher.engine.answered(node, number(1), at(11ms));
  watcher.engine.answered(watcher.listener(0), push("key"), at(12ms));
  watcher.engine.on_time(at(1h));
  CHECK(watcher.is_quiet());
  CHECK(watcher.lease->loss(at(1h - 1ms)) == Loss::none);
}

TEST_CASE("a_reply_that_arrives_after_the_release_is_ignored") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node)
    watcher.engine.answered(watcher.listener(node), push("key"), at(10ms));
  watcher.engine.on_time(at(10ms));
  watcher.engine.submit(Ref<Operation>{new ReleaseOperation{watcher.lease, 3}}, at(11ms));
  for (NodeIndex node = 0; node < 3; ++node) {
    watcher.engine.answered(node, ok(), at(12ms));
    watcher.engine.answered(node, string_reply(""), at(12ms));
  }
  CHECK(watcher.lease->state(at(12ms)) == State::released);
}

TEST_CASE("losing_either_connection_of_a_node_arms_its_leases_again") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  SECTION("the command connection") {
    watcher.harness.disconnect(1, at(2s));
    watcher.engine.on_time(at(2s));
    CHECK(watcher.take_bytes(1).empty());
    watcher.harness.connect(1, at(2s));
    watcher.engine.on_time(at(2s));
    CHECK(watcher.answer(1, "me", at(2s)) == tracking_on(101) + arming);
  }
  SECTION("the listener") {
    watcher.engine.disconnected(watcher.listener(1), lost_connection(), at(2s));
    watcher.engine.on_time(at(2s));
    CHECK(watcher.answer(1, "me", at(2s)).ends_with(reading));
    watcher.connect_listener(1, at(2s));
    watcher.engine.on_time(at(2s));
    CHECK(watcher.answer(1, "me", at(2s)) == tracking_on(101) + arming);
  }
}

TEST_CASE("a_listener_that_dies_silently_is_detected_by_a_ping") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  const std::string ping = command({"PING"});
  Time now = at(5ms);
  while (watcher.engine.session(watcher.listener(0)).ready()) {
    now = watcher.engine.background_timer();
    REQUIRE(now < at(1s));
    watcher.engine.on_time(now);
    for (NodeIndex node = 0; node < 3; ++node) {
      const std::string sent = watcher.take_bytes(watcher.listener(node));
      CHECK((sent.empty() || sent == ping));
      // Node 0 no longer answers.
      if (sent.empty() || node == 0) continue;
      watcher.pong(node, now);
    }
  }
  CHECK(watcher.engine.session(watcher.listener(1)).ready());
  CHECK(watcher.engine.session(watcher.listener(2)).ready());
  watcher.engine.on_time(now);
  CHECK(watcher.take_bytes(0) == reading);
}

TEST_CASE("a_server_without_invalidation_messages_is_polled_and_one_warning_says_so") {
  Claim claim = example_claim();
  claim.ttl = 1s;
  WatcherHarness watcher{claim, 988ms};
  watcher.engine.on_time(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) watcher.answer(node, "me", at(5ms));
  const bool by_subscription = GENERATE(false, true);
  for (NodeIndex node = 0; node < 3; ++node) {
    if (!by_subscription) {
      watcher.connect_listener(node, at(5ms));
      continue;
    }
    watcher.engine.session(watcher.listener(node)).take_dial();
    watcher.engine.connected(watcher.listener(node));
    watcher.engine.answered(watcher.listener(node), number(7), at(5ms));
    watcher.engine.answered(watcher.listener(node), error_reply("NOPERM no permissions"), at(5ms));
  }
  watcher.engine.on_time(at(5ms));
  if (!by_subscription)
    for (NodeIndex node = 0; node < 3; ++node) {
      CHECK(watcher.take_bytes(node) == tracking_on(100 + static_cast<int>(node)) + arming);
      for (int i = 0; i < 2; ++i)
        watcher.engine.answered(node, error_reply("NOPERM no permissions"), at(5ms));
      watcher.engine.answered(node, string_reply("me"), at(5ms));
    }
  CHECK(watcher.engine.take_warning() ==
        "node 0 sends no invalidation messages, so the client polls it every tenth of a ttl: "
        "NOPERM no permissions");
  CHECK_FALSE(watcher.engine.take_warning());

  watcher.engine.on_time(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) watcher.answer(node, "me", at(5ms));
  int asked = 0;
  for (Time now = at(6ms); now < at(950ms); now += 1ms) {
    watcher.engine.on_time(now);
    const std::string sent = watcher.answer(1, "me", now);
    CHECK((sent.empty() || sent == reading));
    for (const NodeIndex node : {0U, 2U}) watcher.answer(node, "me", now);
    asked += sent.empty() ? 0 : 1;
  }
  CHECK(asked >= 9);
  CHECK(asked <= 13);
  CHECK_FALSE(watcher.engine.take_warning());
  CHECK(watcher.lease->state(at(950ms)) == State::held);
}

TEST_CASE("an_expired_lease_is_no_longer_watched_even_without_a_release") {
  WatcherHarness watcher{example_claim(), 100ms};
  watcher.arm(at(5ms));
  watcher.engine.answered(watcher.listener(0), push("key"), at(200ms));
  watcher.engine.on_time(at(200ms));
  CHECK(watcher.engine.watched() == 0);
  for (NodeIndex node = 0; node < 3; ++node) CHECK(watcher.take_bytes(node).empty());
}

TEST_CASE("a_lease_that_an_extension_finds_lost_is_no_longer_watched") {
  WatcherHarness watcher;
  Claim claim = example_claim();
  claim.key = "kept";
  const auto kept = example_lease(988ms, claim);
  watcher.engine.keep(kept, at(0ms));
  watcher.engine.watch(kept, at(0ms));
  CHECK(watcher.engine.watched() == 2);
  watcher.engine.submit(Ref<Operation>{new Extension{kept, 3}}, at(1ms));
  for (const NodeIndex node : {0U, 1U}) watcher.engine.answered(node, number(0), at(2ms));
  CHECK(kept->loss(at(2ms)) == Loss::deleted);
  CHECK(watcher.engine.watched() == 1);
}

TEST_CASE("two_leases_of_one_key_are_watched_independently") {
  WatcherHarness watcher;
  Claim claim = example_claim();
  claim.owner = "us";
  const auto newer = example_lease(1h, claim);
  watcher.engine.watch(newer, at(0ms));
  watcher.engine.on_time(at(5ms));
  for (const NodeIndex node : {0U, 1U})
    for (int i = 0; i < 2; ++i) watcher.engine.answered(node, string_reply("us"), at(6ms));
  CHECK(watcher.lease->loss(at(6ms)) == Loss::taken);
  CHECK(newer->state(at(6ms)) == State::held);
  CHECK(watcher.engine.watched() == 1);
}

TEST_CASE("thousands_of_leases_are_read_in_batches_and_none_is_missed") {
  EngineHarness harness{1};
  harness.make_ready(at(0ms));
  const auto held = watch_leases(harness.engine, 5000, at(0ms));
  std::size_t asked = 0;
  for (Time now = at(5ms); now < at(10s) && harness.engine.watched() > 0; now += 1ms) {
    harness.engine.on_time(now);
    const std::string sent = harness.take_bytes(0);
    std::size_t reads = 0;
    for (auto at = sent.find("GETRANGE"); at != sent.npos; at = sent.find("GETRANGE", at + 1)) ++reads;
    CHECK(reads <= 512);
    for (std::size_t i = 0; i < reads; ++i) harness.engine.answered(0, string_reply(""), now);
    harness.take_bytes(0);
    asked += reads;
  }
  CHECK(asked == 5000);
  CHECK(harness.engine.active() == 0);
}

// ── floods ─────────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("changes_of_one_key_that_are_reported_together_cause_one_read") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  for (int i = 0; i < 900; ++i) watcher.engine.answered(watcher.listener(1), push("key"), at(10ms));
  watcher.engine.on_time(at(10ms));
  CHECK(watcher.answer(1, "me", at(10ms)) == arming);
  CHECK(watcher.is_quiet());
}

TEST_CASE("a_node_that_sends_too_many_invalidation_messages_is_polled_for_a_minute") {
  const Reply flood = GENERATE(push("key"), push("another key"), push_of(nil()), push_of(array_reply({})),
                               push_of(array_reply(std::vector<Reply>(4000, string_reply("key")))));
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  Session& session = watcher.engine.session(watcher.listener(1));
  int received = 0;
  while (session.ready() && received < 5000) {
    watcher.engine.answered(watcher.listener(1), flood, at(10ms));
    ++received;
  }
  CHECK_FALSE(session.ready());
  CHECK(received <= 1003);
  CHECK(watcher.engine.take_warning() ==
        "node 1 sends too many invalidation messages, so the client polls it every tenth of a ttl for a "
        "minute");
  // Its other messages, which were read together with these, are ignored. The connection is closed without reading on.
  for (int i = 0; i < 1000; ++i) watcher.engine.answered(watcher.listener(1), flood, at(10ms));
  CHECK_FALSE(watcher.engine.take_warning());
  CHECK_FALSE(session.take_closing().value().graceful);

  // The change that was the last one is read, and then every tenth of the ttl.
  watcher.engine.on_time(at(10ms));
  CHECK(watcher.answer(1, "me", at(10ms)) == reading);
  int reads = 0;
  const Span ttl = watcher.lease->claim.ttl;
  for (Time now = at(11ms); now < at(11ms) + ttl; now += 1ms) {
    watcher.engine.on_time(now);
    reads += watcher.answer(1, "me", now) == reading ? 1 : 0;
    for (const NodeIndex node : {0U, 2U}) {
      CHECK(watcher.take_bytes(node).empty());
      if (!watcher.take_bytes(watcher.listener(node)).empty()) watcher.pong(node, now);
    }
  }
  CHECK(reads >= 9);
  CHECK(reads <= 14);
  CHECK(watcher.lease->state(at(11ms) + ttl) == State::held);

  watcher.engine.on_time(at(10ms + 1min) - 1s);
  CHECK(watcher.answer(1, "me", at(10ms + 1min) - 1s) == reading);
  CHECK_FALSE(session.has_errand());
  watcher.engine.on_time(at(10ms + 1min));
  watcher.connect_listener(1, at(10ms + 1min));
  watcher.engine.on_time(at(10ms + 1min));
  CHECK(watcher.answer(1, "me", at(10ms + 1min)).ends_with(tracking_on(101) + arming));
}

TEST_CASE("a_node_may_report_a_thousand_changes_and_two_of_every_lease_within_a_second") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  const auto held = watch_leases(watcher.engine, 2999, at(6ms));
  Session& session = watcher.engine.session(watcher.listener(1));
  for (Time second = at(2s); second < at(5s); second += 1s) {
    watcher.engine.answered(watcher.listener(1), push_of(nil()), second);
    watcher.engine.answered(watcher.listener(1), push_of(nil()), second + 500ms);
    for (int i = 0; i < 1000; ++i) watcher.engine.answered(watcher.listener(1), push("key"), second + 999ms);
    CHECK(session.ready());
  }
  watcher.engine.answered(watcher.listener(1), push("key"), at(4999ms));
  CHECK_FALSE(session.ready());
}

TEST_CASE("a_listener_is_replaced_when_its_server_has_accepted_changed_credentials") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  const auto log_in = [&](const Reply& reply, Time now) {
    watcher.engine.log_in(0, {"app", "new"}, now);
    CHECK(watcher.take_bytes(0) == command({"AUTH", "app", "new"}));
    CHECK_FALSE(watcher.engine.session(watcher.listener(0)).has_errand());
    watcher.engine.answered(0, reply, now);
  };
  for (const Time now : {at(2s), at(3s)}) {
    log_in(error_reply("WRONGPASS \x1b[2J"), now);
    CHECK_FALSE(watcher.engine.session(watcher.listener(0)).has_errand());
  }
  CHECK(watcher.engine.take_warning() ==
        "node 0 refuses the new login, so open connections go on with the old one: the server refuses AUTH: "
        "WRONGPASS");
  CHECK_FALSE(watcher.engine.take_warning());  // the second refusal is no news
  log_in(ok(), at(4s));
  CHECK(watcher.engine.session(watcher.listener(0)).take_dial());
  CHECK_FALSE(watcher.engine.session(watcher.listener(1)).has_errand());
  watcher.engine.connected(watcher.listener(0));
  CHECK(watcher.take_bytes(watcher.listener(0)).starts_with(command({"AUTH", "app", "new"})));
}

TEST_CASE("a_listener_follows_credentials_that_are_empty_from_now_on") {
  WatcherHarness watcher;
  watcher.arm(at(5ms));
  watcher.engine.log_in(0, {"app", "new"}, at(2s));
  watcher.take_bytes(0);
  watcher.engine.answered(0, ok(), at(2s));
  CHECK(watcher.engine.session(watcher.listener(0)).take_dial());
  watcher.engine.connected(watcher.listener(0));
  watcher.engine.log_in(0, {}, at(3s));
  CHECK(watcher.engine.session(watcher.listener(0)).take_dial());
  watcher.engine.connected(watcher.listener(0));
  CHECK(watcher.take_bytes(watcher.listener(0)).starts_with(command({"CLIENT", "ID"})));
}
