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
#include "unit/support/fleet.hpp"
#include "unit/support/recorder.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Loss;
using redlock::State;

Reply array(std::vector<Reply> elements) {
  Reply reply;
  reply.kind = Reply::Kind::array;
  reply.elements = std::move(elements);
  return reply;
}
Reply push_of(Reply keys) {
  return array({string_reply("message"), string_reply("__redis__:invalidate"), std::move(keys)});
}
Reply push(const std::string& key) { return push_of(array({string_reply(key)})); }

const std::string caching = command({"CLIENT", "CACHING", "YES"});
const std::string reading = command({"GETRANGE", "key", "0", "2"});
const std::string arming = caching + reading;
std::string tracking(int id) {
  return command({"CLIENT", "TRACKING", "ON", "REDIRECT", std::to_string(id), "OPTIN", "NOLOOP"});
}

/// Three nodes, whose listeners have the client ids 100, 101 and 102, and one lease that is watched from the
/// start.
struct Story {
  explicit Story(Claim claim = example_claim(), Span lasts = 1h) {
    fleet.make_ready(at(0ms));
    lease = example_tenure(lasts, std::move(claim));
    engine.watch(lease, at(0ms));
  }

  [[nodiscard]] ConnectionIndex listener(NodeIndex node) const { return engine.nodes() + node; }
  std::string take_bytes(ConnectionIndex connection) { return fleet.take_bytes(connection); }
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
  void greet_lookout(NodeIndex node, Time now) {
    Session& session = engine.session(listener(node));
    session.take_closing();
    CHECK(session.take_dial());
    engine.connected(listener(node), now);
    CHECK(take_bytes(listener(node)) ==
          command({"CLIENT", "ID"}) + command({"SUBSCRIBE", "__redis__:invalidate"}));
    engine.answered(listener(node), number(100 + static_cast<long long>(node)), now);
    CHECK_FALSE(session.ready());
    engine.answered(listener(node), subscribed(), now);
    CHECK(session.ready());
  }
  /// Every node has our value and will report the next change.
  void arm(Time now) {
    engine.on_time(now);
    for (NodeIndex node = 0; node < 3; ++node) answer(node, "me", now);
    for (NodeIndex node = 0; node < 3; ++node) greet_lookout(node, now);
    engine.on_time(now);
    for (NodeIndex node = 0; node < 3; ++node)
      CHECK(answer(node, "me", now) == tracking(100 + static_cast<int>(node)) + arming);
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
  [[nodiscard]] bool is_quiet() {
    for (ConnectionIndex each = 0; each < engine.connections(); ++each)
      if (!engine.session(each).unsent().empty()) return false;
    return true;
  }
  static Reply subscribed() {
    return array({string_reply("subscribe"), string_reply("__redis__:invalidate"), number(1)});
  }

  Fleet fleet{3};
  Engine& engine = fleet.engine;
  std::shared_ptr<LeaseState> lease;
};

}  // namespace

TEST_CASE("a_lease_that_is_held_only_briefly_is_not_watched") {
  Story s;
  s.engine.on_time(at(4ms));
  CHECK(s.is_quiet());
  s.engine.submit(Ref<Operation>{new ReleaseOperation{s.lease, 3}}, at(4ms));
  for (NodeIndex node = 0; node < 3; ++node) CHECK(s.take_bytes(node) == s.lease->claim.release_command());
  CHECK(s.engine.watched() == 0);
  s.engine.on_time(at(1h));
  CHECK(s.is_quiet());
  CHECK_FALSE(s.engine.session(s.listener(0)).has_errand());
}

TEST_CASE("a_watched_lease_is_read_first_and_armed_once_the_listeners_are_ready") {
  Story s;
  CHECK(s.engine.background_timer() == at(5ms));
  s.engine.on_time(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) CHECK(s.answer(node, "me", at(6ms)) == reading);
  s.greet_lookout(1, at(7ms));
  s.engine.on_time(at(7ms));
  CHECK(s.answer(1, "me", at(8ms)) == tracking(101) + arming);
  // The other nodes have no listener yet.
  for (const NodeIndex node : {0U, 2U}) CHECK(s.answer(node, "me", at(8ms)) == reading);
  CHECK(s.is_quiet());
  CHECK(s.lease->state(at(8ms)) == State::held);
}

TEST_CASE("copies_that_are_gone_at_the_first_read_are_detected") {
  Story s;
  s.engine.on_time(at(5ms));
  s.answer(0, "", at(6ms));
  CHECK(s.lease->state(at(6ms)) == State::held);
  s.answer(2, "", at(6ms));
  CHECK(s.lease->loss(at(6ms)) == Loss::deleted);
}

TEST_CASE("a_majority_without_our_value_is_a_loss_and_the_remaining_copies_are_released") {
  Story s;
  s.arm(at(5ms));
  const bool taken = GENERATE(false, true);
  s.change(0, "", at(10ms));
  CHECK(s.lease->state(at(10ms)) == State::held);
  s.change(2, taken ? "you" : "", at(12ms));
  CHECK(s.lease->loss(at(12ms)) == (taken ? Loss::taken : Loss::deleted));
  for (NodeIndex node = 0; node < 3; ++node) CHECK(s.take_bytes(node) == s.lease->claim.release_command());
  CHECK(s.engine.watched() == 0);
  CHECK(s.lease->copies.given_up());
}

TEST_CASE("a_key_of_another_type_in_its_place_is_also_a_loss") {
  Story s;
  s.arm(at(5ms));
  for (const NodeIndex node : {0U, 1U}) s.change(node, wrongtype(), at(11ms));
  CHECK(s.lease->loss(at(11ms)) == Loss::taken);
}

TEST_CASE("a_longer_value_that_begins_like_ours_is_another_owners") {
  Story s;
  s.arm(at(5ms));
  s.change(0, "me!", at(10ms));
  s.change(1, "me!", at(10ms));
  CHECK(s.lease->loss(at(11ms)) == Loss::taken);
}

TEST_CASE("a_change_that_leaves_our_value_is_no_loss_and_the_key_stays_watched") {
  Story s;
  s.arm(at(5ms));
  for (int round = 0; round < 5; ++round)
    for (NodeIndex node = 0; node < 3; ++node) s.change(node, "me", at(10ms));
  CHECK(s.lease->state(at(10ms)) == State::held);
  CHECK(s.is_quiet());
}

TEST_CASE("a_copy_that_came_back_does_not_count_as_missing") {
  Story s;
  s.arm(at(5ms));
  s.change(0, "", at(10ms));
  s.change(0, "me", at(11ms));
  s.change(1, "", at(12ms));
  CHECK(s.lease->state(at(12ms)) == State::held);
  s.change(2, "you", at(13ms));
  CHECK(s.lease->loss(at(13ms)) == Loss::taken);
}

TEST_CASE("errors_and_silence_are_no_votes") {
  Story s;
  s.arm(at(5ms));
  for (const NodeIndex node : {1U, 2U}) s.change(node, loading(), at(11ms));
  s.engine.answered(s.listener(0), push("key"), at(11ms));  // without a reply to the read
  s.engine.on_time(at(11ms));
  CHECK(s.lease->state(at(11ms)) == State::held);
}

TEST_CASE("a_change_of_an_unwatched_key_is_ignored") {
  Story s;
  s.arm(at(5ms));
  s.engine.answered(s.listener(0), push("kez"), at(10ms));
  s.engine.on_time(at(10ms));
  CHECK(s.is_quiet());
}

TEST_CASE("a_flushed_node_is_asked_about_every_lease") {
  Story s;
  Claim other = example_claim();
  other.key = "other";
  const auto second = example_tenure(1h, other);
  s.engine.watch(second, at(0ms));
  s.engine.on_time(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) s.take_bytes(node);
  for (NodeIndex node = 0; node < 3; ++node) s.greet_lookout(node, at(5ms));
  s.engine.on_time(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) s.take_bytes(node);
  s.engine.answered(s.listener(1), push_of(nil()), at(10ms));
  s.engine.on_time(at(10ms));
  const std::string other_read = caching + command({"GETRANGE", "other", "0", "2"});
  const std::string sent = s.take_bytes(1);
  CHECK((sent == arming + other_read || sent == other_read + arming));
  CHECK(s.is_quiet());
}

TEST_CASE("an_extension_arms_its_lease_again_in_the_same_batch") {
  Story s;
  s.arm(at(5ms));
  s.engine.submit(Ref<Operation>{new Extension{s.lease, 3}}, at(10ms));
  for (NodeIndex node = 0; node < 3; ++node)
    CHECK(s.take_bytes(node) == s.lease->claim.extend_command() + arming);
  for (NodeIndex node = 0; node < 3; ++node) {
    s.engine.answered(node, number(node == 0 ? 0 : 1), at(11ms));
    s.engine.answered(node, ok(), at(11ms));
    s.engine.answered(node, string_reply(node == 0 ? "" : "me"), at(11ms));
  }
  // The lease is also armed after its copy is put back.
  CHECK(s.answer(0, "me", at(12ms)) == s.lease->claim.put_back_command() + arming);
  s.change(1, "", at(13ms));
  CHECK(s.lease->state(at(13ms)) == State::held);
}

TEST_CASE("a_read_that_does_not_fit_into_the_buffer_is_sent_later") {
  Story s;
  s.arm(at(5ms));
  // At most half a mebibyte may wait. The remaining room is just enough for the extension.
  const std::size_t room = (std::size_t{1} << 19U) - s.lease->claim.extend_command().size();
  s.fleet.submit({.nodes = 1, .command = std::string(room, 'x')}, at(10ms));
  s.engine.submit(Ref<Operation>{new Extension{s.lease, 3}}, at(10ms));
  const std::string sent = s.take_bytes(0);
  REQUIRE(sent.find(s.lease->claim.extend_command()) != sent.npos);
  REQUIRE(sent.find(reading) == sent.npos);
  CHECK(s.engine.timer() < at(10ms));
  s.engine.on_time(at(11ms));
  CHECK(s.take_bytes(0) == arming);
}

TEST_CASE("nothing_is_read_after_a_release") {
  Story s;
  s.arm(at(5ms));
  s.engine.submit(Ref<Operation>{new ReleaseOperation{s.lease, 3}}, at(10ms));
  for (NodeIndex node = 0; node < 3; ++node) CHECK(s.take_bytes(node) == s.lease->claim.release_command());
  for (NodeIndex node = 0; node < 3; ++node) s.engine.answered(node, number(1), at(11ms));
  s.engine.answered(s.listener(0), push("key"), at(12ms));
  s.engine.on_time(at(1h));
  CHECK(s.is_quiet());
  CHECK(s.lease->loss(at(1h - 1ms)) == Loss::none);
}

TEST_CASE("a_reply_that_arrives_after_the_release_is_ignored") {
  Story s;
  s.arm(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) s.engine.answered(s.listener(node), push("key"), at(10ms));
  s.engine.on_time(at(10ms));
  s.engine.submit(Ref<Operation>{new ReleaseOperation{s.lease, 3}}, at(11ms));
  for (NodeIndex node = 0; node < 3; ++node) {
    s.engine.answered(node, ok(), at(12ms));
    s.engine.answered(node, string_reply(""), at(12ms));
  }
  CHECK(s.lease->state(at(12ms)) == State::released);
}

TEST_CASE("losing_either_connection_of_a_node_arms_its_leases_again") {
  Story s;
  s.arm(at(5ms));
  SECTION("the command connection") {
    s.fleet.lose(1, at(2s));
    s.engine.on_time(at(2s));
    CHECK(s.take_bytes(1).empty());
    s.fleet.greet(1, at(2s));
    s.engine.on_time(at(2s));
    CHECK(s.answer(1, "me", at(2s)) == tracking(101) + arming);
  }
  SECTION("the listener") {
    s.engine.disconnected(s.listener(1), lost_connection(), at(2s));
    s.engine.on_time(at(2s));
    CHECK(s.answer(1, "me", at(2s)).ends_with(reading));
    s.greet_lookout(1, at(2s));
    s.engine.on_time(at(2s));
    CHECK(s.answer(1, "me", at(2s)) == tracking(101) + arming);
  }
}

TEST_CASE("a_listener_that_dies_silently_is_detected_by_a_ping") {
  Story s;
  s.arm(at(5ms));
  const std::string ping = command({"PING"});
  Time now = at(5ms);
  while (s.engine.session(s.listener(0)).ready()) {
    now = s.engine.background_timer();
    REQUIRE(now < at(1s));
    s.engine.on_time(now);
    for (NodeIndex node = 0; node < 3; ++node) {
      const std::string sent = s.take_bytes(s.listener(node));
      CHECK((sent.empty() || sent == ping));
      // Node 0 no longer answers.
      if (sent.empty() || node == 0) continue;
      s.engine.heard(s.listener(node), now);
      s.engine.answered(s.listener(node), array({string_reply("pong"), string_reply("")}), now);
    }
  }
  CHECK(s.engine.session(s.listener(1)).ready());
  CHECK(s.engine.session(s.listener(2)).ready());
  s.engine.on_time(now);
  CHECK(s.take_bytes(0) == reading);
}

TEST_CASE("a_server_without_invalidation_messages_is_polled_and_one_warning_says_so") {
  Claim claim = example_claim();
  claim.ttl = 1s;
  Story s{claim, 988ms};
  s.engine.on_time(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) s.answer(node, "me", at(5ms));
  const bool by_subscription = GENERATE(false, true);
  for (NodeIndex node = 0; node < 3; ++node) {
    if (!by_subscription) {
      s.greet_lookout(node, at(5ms));
      continue;
    }
    s.engine.session(s.listener(node)).take_dial();
    s.engine.connected(s.listener(node), at(5ms));
    s.engine.answered(s.listener(node), number(7), at(5ms));
    s.engine.answered(s.listener(node), error_reply("NOPERM no permissions"), at(5ms));
  }
  s.engine.on_time(at(5ms));
  if (!by_subscription)
    for (NodeIndex node = 0; node < 3; ++node) {
      CHECK(s.take_bytes(node) == tracking(100 + static_cast<int>(node)) + arming);
      for (int i = 0; i < 2; ++i) s.engine.answered(node, error_reply("NOPERM no permissions"), at(5ms));
      s.engine.answered(node, string_reply("me"), at(5ms));
    }
  CHECK(s.engine.take_warning() ==
        "node 0 sends no invalidation messages, so the client polls it every tenth of a ttl: "
        "NOPERM no permissions");
  CHECK_FALSE(s.engine.take_warning());

  s.engine.on_time(at(5ms));
  for (NodeIndex node = 0; node < 3; ++node) s.answer(node, "me", at(5ms));
  int asked = 0;
  for (Time now = at(6ms); now < at(950ms); now += 1ms) {
    s.engine.on_time(now);
    const std::string sent = s.answer(1, "me", now);
    CHECK((sent.empty() || sent == reading));
    for (const NodeIndex node : {0U, 2U}) s.answer(node, "me", now);
    asked += sent.empty() ? 0 : 1;
  }
  CHECK(asked >= 9);
  CHECK(asked <= 13);
  CHECK_FALSE(s.engine.take_warning());
  CHECK(s.lease->state(at(950ms)) == State::held);
}

TEST_CASE("an_expired_lease_is_no_longer_watched_even_without_a_release") {
  Story s{example_claim(), 100ms};
  s.arm(at(5ms));
  s.engine.answered(s.listener(0), push("key"), at(200ms));
  s.engine.on_time(at(200ms));
  CHECK(s.engine.watched() == 0);
  for (NodeIndex node = 0; node < 3; ++node) CHECK(s.take_bytes(node).empty());
}

TEST_CASE("a_lease_that_an_extension_finds_lost_is_no_longer_watched") {
  Story s;
  Claim claim = example_claim();
  claim.key = "kept";
  const auto kept = example_tenure(988ms, claim);
  s.engine.keep(kept, at(0ms));
  s.engine.watch(kept, at(0ms));
  CHECK(s.engine.watched() == 2);
  s.engine.submit(Ref<Operation>{new Extension{kept, 3}}, at(1ms));
  for (const NodeIndex node : {0U, 1U}) s.engine.answered(node, number(0), at(2ms));
  CHECK(kept->loss(at(2ms)) == Loss::deleted);
  CHECK(s.engine.watched() == 1);
}

TEST_CASE("two_leases_of_one_key_are_watched_independently") {
  Story s;
  Claim claim = example_claim();
  claim.owner = "us";
  const auto newer = example_tenure(1h, claim);
  s.engine.watch(newer, at(0ms));
  s.engine.on_time(at(5ms));
  for (const NodeIndex node : {0U, 1U})
    for (int i = 0; i < 2; ++i) s.engine.answered(node, string_reply("us"), at(6ms));
  CHECK(s.lease->loss(at(6ms)) == Loss::taken);
  CHECK(newer->state(at(6ms)) == State::held);
  CHECK(s.engine.watched() == 1);
}

TEST_CASE("thousands_of_leases_are_read_in_batches_and_none_is_missed") {
  Fleet fleet{1};
  fleet.make_ready(at(0ms));
  std::vector<std::shared_ptr<LeaseState>> held;
  for (int i = 0; i < 5000; ++i) {
    Claim claim = example_claim();
    claim.key = "key " + std::to_string(i);
    held.push_back(example_tenure(1h, claim));
    fleet.engine.watch(held.back(), at(0ms));
  }
  std::size_t asked = 0;
  for (Time now = at(5ms); now < at(10s) && fleet.engine.watched() > 0; now += 1ms) {
    fleet.engine.on_time(now);
    const std::string sent = fleet.take_bytes(0);
    std::size_t reads = 0;
    for (auto at = sent.find("GETRANGE"); at != sent.npos; at = sent.find("GETRANGE", at + 1)) ++reads;
    CHECK(reads <= 512);
    for (std::size_t i = 0; i < reads; ++i) fleet.engine.answered(0, string_reply(""), now);
    // The releases.
    for (std::size_t i = 0; i < reads; ++i) fleet.engine.answered(0, number(0), now);
    fleet.take_bytes(0);
    asked += reads;
  }
  CHECK(asked == 5000);
  CHECK(fleet.engine.active() == 0);
}
