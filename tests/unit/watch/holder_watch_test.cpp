// How a watch learns who has a lock.
#include "redlock/core/watch/holder_watch.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/lease/release_operation.hpp"
#include "redlock/status.hpp"
#include "support/catch.hpp"
#include "unit/support/listening_engine.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;

const std::string reading_value = command({"GETRANGE", "key", "0", "1023"});
const std::string reading_rest =
    command({"GETRANGE", "redlock:f:{key}", "0", "16"}) + command({"PTTL", "key"}) + reading_value;
const std::string reading = reading_value + reading_rest;
const std::string arming = caching_on + reading;
const std::string arming_both = caching_on + reading_value + caching_on + reading_rest;

constexpr WatchTimes times;

/// What a node shows of the key; no owner: there is no key.
struct Shows {
  std::string owner = {};
  std::string counter = {};
  long long pttl = 60'000;
};

/// One watch of the key.
struct WatchHarness : ListeningEngine {
  WatchHarness() {
    engine.watch_holder(
        Ref<HolderWatch>{new HolderWatch{"key", 3, [this](const Holding& seen) { reports.push_back(seen); }}},
        at(0ms));
    engine.on_time(at(0ms));
  }
  /// The node answers all commands that it was sent. Returns them.
  std::string answer(NodeIndex node, const Shows& shown, Time now) {
    std::string sent = take_bytes(node);
    for (std::string_view rest = sent; !rest.empty();) {
      const std::size_t end = rest.find("\r\n*", 1);
      const std::string_view one = rest.substr(0, end == rest.npos ? rest.size() : end + 2);
      const auto names = [&](std::string_view word) { return one.find(word) != one.npos; };
      const Reply pttl = number(shown.owner.empty() ? -2 : shown.pttl);
      engine.answered(node,
                      names("PTTL")         ? pttl
                      : names("redlock:f:") ? string_reply(shown.counter)
                      : names("GETRANGE")   ? string_reply(shown.owner)
                                            : ok(),
                      now);
      rest.remove_prefix(one.size());
    }
    return sent;
  }
  /// All nodes will report the next change.
  void arm(const Shows& shown, Time now) {
    for (NodeIndex node = 0; node < 3; ++node) CHECK(answer(node, shown, now) == reading);
    for (NodeIndex node = 0; node < 3; ++node) connect_listener(node, now);
    engine.on_time(now);
    for (NodeIndex node = 0; node < 3; ++node)
      CHECK(answer(node, shown, now) == tracking_on(100 + static_cast<int>(node)) + arming);
  }
  /// The node reports a change and shows this when it is read again. Ends when the watch has read all that changed.
  void change(NodeIndex node, const Shows& shown, Time now) {
    engine.answered(listener(node), push("key"), now);
    const Time settled = now + times.settling + times.before_others;
    std::string last;
    for (std::string sent; engine.on_time(settled), !(sent = answer(node, shown, settled)).empty();)
      last = sent;
    CHECK((last == arming || last == arming_both));
  }

  /// This client sends a command that writes the key to all nodes.
  void write_key(Time now) { engine.submit(Ref<Operation>{new ReleaseOperation{lease, 3}}, now); }

  const std::shared_ptr<LeaseState> lease = example_lease(1h);
  std::vector<Holding> reports;
};

using Reports = std::vector<Holding>;

}  // namespace

TEST_CASE("a_watch_reports_who_has_the_lock_when_a_majority_has_shown_the_same_owner") {
  WatchHarness watch;
  CHECK(watch.answer(0, {"one", "7"}, at(1ms)) == reading);
  CHECK(watch.reports.empty());
  watch.answer(1, {"another", "7"}, at(1ms));
  CHECK(watch.reports.empty());
  watch.answer(2, {"one", "7"}, at(2ms));
  CHECK(watch.reports == Reports{{"one", 7}});
}

TEST_CASE("a_watch_reports_that_nobody_has_the_lock_when_no_owner_can_have_a_majority") {
  WatchHarness watch;
  watch.answer(0, {}, at(1ms));
  CHECK(watch.reports.empty());
  watch.answer(1, {"one"}, at(1ms));
  CHECK(watch.reports.empty());
  watch.answer(2, {"another"}, at(1ms));
  CHECK(watch.reports == Reports{{}});
}

TEST_CASE("a_watch_reads_and_arms_a_key_again_after_each_change") {
  WatchHarness watch;
  watch.arm({"one", "7"}, at(1ms));
  const std::vector<std::string> owners{"two", "", "three"};
  for (const std::string& owner : owners)
    for (const NodeIndex node : {0U, 1U, 2U}) watch.change(node, {owner, "8"}, at(2ms));
  CHECK(watch.reports == Reports{{"one", 7}, {"two", 8}, {}, {"three", 8}});
  for (const NodeIndex node : {0U, 1U}) watch.answer(node, {"three", "8"}, at(3ms));
  watch.engine.on_time(at(3ms));
  CHECK(watch.is_quiet());
}

// The second round of an acquisition raises counters, and changes nothing else.
TEST_CASE("a_watch_reads_a_node_again_when_its_counter_was_raised") {
  WatchHarness watch;
  watch.arm({}, at(1ms));
  for (const NodeIndex node : {0U, 1U}) watch.change(node, {"one", "7"}, at(2ms));
  CHECK(watch.reports == Reports{{}, {"one", 7}});
  watch.engine.on_time(at(80ms));  // the third node does not answer
  for (const NodeIndex node : {0U, 1U}) CHECK(watch.answer(node, {"one", "7"}, at(80ms)) == arming_both);
  for (const NodeIndex node : {0U, 1U}) {
    watch.engine.answered(watch.listener(node), push("redlock:f:{key}"), at(90ms));
    watch.engine.on_time(at(90ms) + times.settling);
    CHECK(watch.answer(node, {"one", "8"}, at(98ms)) == arming_both);
  }
  CHECK(watch.reports == Reports{{}, {"one", 7}, {"one", 8}});
}

TEST_CASE("a_watch_does_not_arm_the_counter_if_all_nodes_show_the_same_holder_with_the_same_one") {
  WatchHarness watch;
  watch.arm({}, at(1ms));
  for (const NodeIndex node : {0U, 1U, 2U}) watch.engine.answered(watch.listener(node), push("key"), at(2ms));
  watch.engine.on_time(at(2ms) + times.settling + times.before_others);
  for (const NodeIndex node : {0U, 1U, 2U}) CHECK(watch.answer(node, {"one", "7"}, at(35ms)) == arming);
  watch.engine.on_time(at(36ms));
  CHECK(watch.is_quiet());
}

// Other clients change the key again and again.
TEST_CASE("a_report_does_not_put_off_a_read_that_is_due") {
  WatchHarness watch;
  watch.arm({"one", "7"}, at(1ms));
  watch.engine.answered(watch.listener(2), push("key"), at(2ms));
  for (auto now = 10ms; now < 34ms; now += 8ms) {
    watch.engine.on_time(at(now));
    CHECK(watch.is_quiet());
    watch.engine.answered(watch.listener(2), push("key"), at(now));
  }
  watch.engine.on_time(at(34ms));
  CHECK(watch.answer(2, {"one", "7"}, at(34ms)) == arming);
}

// The next holder mostly gets the lock right after the last one has left.
TEST_CASE("a_watch_reads_a_majority_of_the_nodes_once_when_a_holder_follows_another") {
  WatchHarness watch;
  watch.arm({"one", "7"}, at(1ms));
  for (const NodeIndex node : {2U, 1U, 0U}) watch.engine.answered(watch.listener(node), push("key"), at(2ms));
  watch.engine.on_time(at(8ms));
  CHECK(watch.is_quiet());
  CHECK(watch.engine.background_timer() == at(2ms) + times.settling);
  watch.engine.on_time(at(9ms));
  for (const NodeIndex node : {0U, 1U}) CHECK(watch.answer(node, {"two", "8"}, at(10ms)) == arming);
  CHECK(watch.reports == Reports{{"one", 7}, {"two", 8}});
  watch.engine.on_time(at(11ms));
  CHECK(watch.is_quiet());
  CHECK(watch.engine.background_timer() == at(2ms) + times.settling + times.before_others);
  watch.engine.on_time(at(34ms));
  CHECK(watch.answer(2, {"two", "8"}, at(35ms)) == arming);
}

TEST_CASE("a_watch_reads_the_other_nodes_at_once_if_the_majority_leaves_the_holder_or_its_token_open") {
  const bool is_holder_open = GENERATE(true, false);
  CAPTURE(is_holder_open);
  WatchHarness watch;
  watch.arm({"one", "7"}, at(1ms));
  for (const NodeIndex node : {0U, 1U, 2U}) watch.engine.answered(watch.listener(node), push("key"), at(2ms));
  watch.engine.on_time(at(9ms));
  watch.answer(0, {"two", "8"}, at(10ms));
  watch.answer(1, {is_holder_open ? "one" : "two", "7"}, at(10ms));
  watch.engine.on_time(at(10ms));
  CHECK(watch.answer(2, {"two", "8"}, at(11ms)) == arming);
  CHECK(watch.reports.back() == Holding{"two", 8});
}

TEST_CASE("a_watch_reads_the_other_nodes_although_one_of_the_majority_does_not_answer") {
  WatchHarness watch;
  watch.arm({"one", "7"}, at(1ms));
  for (const NodeIndex node : {0U, 1U, 2U}) watch.engine.answered(watch.listener(node), push("key"), at(2ms));
  watch.engine.on_time(at(9ms));
  watch.answer(0, {"two", "8"}, at(10ms));
  watch.engine.on_time(at(34ms));
  CHECK(watch.answer(2, {"two", "8"}, at(35ms)) == arming);
  CHECK(watch.reports == Reports{{"one", 7}, {"two", 8}});
}

TEST_CASE("a_lock_that_is_kept_again_is_reported_at_once") {
  WatchHarness watch;
  watch.arm({}, at(1ms));
  Reports expected{{}};
  for (const char* const owner : {"one", "redlock:kept", "", "two", "redlock:kept"}) {
    for (const NodeIndex node : {0U, 1U, 2U}) watch.change(node, {owner, "7"}, at(2ms));
    expected.push_back(*owner ? Holding{owner, 7} : Holding{});
  }
  CHECK(watch.reports == expected);
}

TEST_CASE("a_node_whose_counter_goes_up_and_down_is_not_read_without_end") {
  WatchHarness watch;
  watch.arm({}, at(1ms));
  for (const NodeIndex node : {0U, 1U}) watch.change(node, {"one", node == 0 ? "7" : "8"}, at(2ms));
  int reads = 0;
  for (auto now = 2ms; now < 1s; ++now) {
    watch.engine.on_time(at(now));
    for (const NodeIndex node : {0U, 1U, 2U}) {
      const char* const counter = node == 0 ? "7" : node == 1 || now % 2ms == 0ms ? "8" : "7";
      if (!watch.answer(node, {"one", counter}, at(now)).empty()) ++reads;
      if (!watch.take_bytes(watch.listener(node)).empty()) watch.pong(node, at(now));
    }
  }
  CHECK(reads < 10);
}

TEST_CASE("the_word_of_one_node_changes_nothing_for_a_watch") {
  WatchHarness watch;
  watch.arm({"one", "7"}, at(1ms));
  for (const char* const owner : {"two", "", "one", "three"}) watch.change(0, {owner, "9"}, at(2ms));
  CHECK(watch.reports == Reports{{"one", 7}});
}

TEST_CASE("a_watch_does_not_believe_a_reply_that_was_overtaken_by_the_report_of_a_change") {
  WatchHarness watch;
  watch.arm({"one", "7"}, at(1ms));
  for (const NodeIndex node : {0U, 1U}) {
    watch.engine.answered(watch.listener(node), push("key"), at(2ms));
    watch.engine.on_time(at(9ms));
    watch.engine.answered(watch.listener(node), push("key"), at(10ms));
    watch.engine.on_time(at(17ms));
    const std::string& expected = node == 0 ? arming : arming_both;
    CHECK(watch.answer(node, {"two", "8"}, at(18ms)) == expected);  // one read at a time
    watch.engine.on_time(at(18ms));
    CHECK(watch.answer(node, {"three", "9"}, at(19ms)) == expected);
  }
  CHECK(watch.reports == Reports{{"one", 7}, {"three", 9}});
}

// Somebody else asks the holder again and again to give the lock up.
TEST_CASE("a_watch_learns_the_token_of_a_holder_from_a_node_whose_replies_are_always_overtaken") {
  WatchHarness watch;
  watch.arm({}, at(1ms));
  watch.change(0, {"one", "7"}, at(2ms));
  watch.change(1, {"one", "8"}, at(40ms));
  CHECK(watch.reports == Reports{{}, {"one", 0}});
  watch.answer(2, {}, at(73ms));
  for (auto now = 80ms; now < 200ms; now += 40ms) {
    watch.engine.answered(watch.listener(2), push("key"), at(now));
    watch.engine.on_time(at(now) + times.settling + times.before_others);
    watch.engine.answered(watch.listener(2), push("key"), at(now + 35ms));
    watch.answer(2, {"one", "8"}, at(now + 35ms));
  }
  CHECK(watch.reports == Reports{{}, {"one", 0}, {"one", 8}});
}

TEST_CASE("a_watch_reads_a_key_when_its_ttl_ends") {
  WatchHarness watch;
  watch.arm({"one", "7", 100}, at(1ms));
  CHECK(watch.engine.background_timer() == at(102ms));
  watch.engine.on_time(at(102ms));
  for (const NodeIndex node : {0U, 1U, 2U}) CHECK(watch.answer(node, {}, at(102ms)) == arming);
  CHECK(watch.reports == Reports{{"one", 7}, {}});
}

TEST_CASE("a_node_whose_ttls_are_always_over_is_read_a_hundred_times_a_second_at_most") {
  WatchHarness watch;
  watch.arm({"one", "7"}, at(1ms));
  watch.change(0, {"one", "7", 0}, at(1ms));
  int reads = 0;
  for (auto now = 1ms; now < 1s; ++now) {
    watch.engine.on_time(at(now));
    if (!watch.answer(0, {"one", "7", 0}, at(now)).empty()) ++reads;
    for (const NodeIndex node : {0U, 1U, 2U})
      if (!watch.take_bytes(watch.listener(node)).empty()) watch.pong(node, at(now));
  }
  CHECK(reads > 80);
  CHECK(reads <= 100);
}

TEST_CASE("a_watch_reads_a_key_again_that_this_client_writes") {
  WatchHarness watch;
  watch.arm({"one", "7"}, at(1ms));
  watch.write_key(at(2ms));
  watch.engine.on_time(at(2ms));
  for (const NodeIndex node : {0U, 1U, 2U})
    CHECK(watch.take_bytes(node) == watch.lease->claim.release_command() + arming);
}

TEST_CASE("a_watch_learns_of_a_holder_while_this_client_writes_the_key_before_each_reply") {
  WatchHarness watch;
  watch.arm({}, at(1ms));
  for (const NodeIndex node : {0U, 1U}) watch.engine.answered(watch.listener(node), push("key"), at(2ms));
  watch.engine.on_time(at(9ms));
  for (auto now = 10ms; now < 13ms; ++now) {
    watch.write_key(at(now));
    for (const NodeIndex node : {0U, 1U, 2U}) watch.answer(node, {"one", "7"}, at(now));
    watch.engine.on_time(at(now));
  }
  CHECK(watch.reports == Reports{{}, {"one", 7}});
  for (const NodeIndex node : {0U, 1U})
    CHECK_THAT(watch.take_bytes(node), contains(caching_on + reading_value));
}

// This client adopts the lock: one command gives each node the next owner.
TEST_CASE("a_watch_does_not_report_that_nobody_has_a_lock_whose_owner_this_client_replaces") {
  WatchHarness watch;
  watch.arm({"one", "7"}, at(1ms));
  watch.change(2, {}, at(2ms));
  watch.write_key(at(3ms));
  watch.engine.on_time(at(3ms));
  watch.answer(0, {"two", "8"}, at(4ms));
  watch.answer(2, {}, at(4ms));
  CHECK(watch.reports == Reports{{"one", 7}});
  watch.answer(1, {"two", "8"}, at(5ms));
  CHECK(watch.reports == Reports{{"one", 7}, {"two", 8}});
}

TEST_CASE("a_watch_reports_that_nobody_has_a_lock_that_this_client_has_released") {
  WatchHarness watch;
  watch.arm({"one", "7"}, at(1ms));
  watch.write_key(at(3ms));
  watch.engine.on_time(at(3ms));
  watch.answer(0, {}, at(4ms));
  CHECK(watch.reports == Reports{{"one", 7}});
  watch.answer(1, {}, at(4ms));
  CHECK(watch.reports == Reports{{"one", 7}, {}});
}

TEST_CASE("a_watch_reports_a_token_only_if_a_majority_shows_it_beside_the_owner") {
  WatchHarness watch;
  watch.arm({}, at(1ms));
  watch.change(0, {"one", "7"}, at(2ms));
  watch.change(1, {"one", "8"}, at(2ms));
  CHECK(watch.reports == Reports{{}, {"one", 0}});
  watch.change(2, {"", "8"}, at(2ms));
  watch.change(0, {"one", "8"}, at(3ms));
  CHECK(watch.reports == Reports{{}, {"one", 0}, {"one", 8}});
  watch.change(0, {"one", "text"}, at(4ms));
  CHECK(watch.reports.size() == 3);
}

TEST_CASE(
    "a_watch_reads_nodes_that_report_no_changes_four_times_a_second_and_the_others_every_five_seconds") {
  WatchHarness watch;
  for (const NodeIndex node : {0U, 1U, 2U}) watch.answer(node, {}, at(1ms));
  watch.connect_listener(0, at(1ms));
  watch.engine.on_time(at(1ms));
  watch.answer(0, {}, at(1ms));
  std::vector<int> reads(3);
  int redials = 0;  // each is a reason to read the node
  for (auto now = 2ms; now < 10s; ++now) {
    watch.engine.on_time(at(now));
    for (const NodeIndex node : {0U, 1U, 2U}) reads[node] += watch.answer(node, {}, at(now)).empty() ? 0 : 1;
    if (!watch.take_bytes(watch.listener(0)).empty()) watch.pong(0, at(now));
    for (const NodeIndex node : {1U, 2U})
      if (watch.engine.session(watch.listener(node)).take_dial()) {
        watch.engine.disconnected(watch.listener(node), lost_connection(), at(now));
        redials += node == 1 ? 1 : 0;
      }
  }
  CHECK(reads[0] == 2);
  CHECK(reads[1] >= 40);
  CHECK(reads[1] <= 54 + redials);
}

TEST_CASE("a_node_without_a_connection_does_not_count_for_a_watch_until_it_is_read_again") {
  WatchHarness watch;
  watch.arm({"one", "7"}, at(1ms));
  watch.harness.disconnect(1, at(2s));
  watch.change(0, {}, at(2s));
  CHECK(watch.reports == Reports{{"one", 7}});
  watch.harness.connect(1, at(2s));
  watch.engine.on_time(at(2s));
  watch.answer(1, {}, at(2s));
  CHECK(watch.reports == Reports{{"one", 7}, {}});
}

TEST_CASE("a_node_that_was_refused_for_a_while_is_dialled_again_by_a_client_that_only_watches") {
  EngineHarness harness{3};
  harness.engine.watch_holder(Ref<HolderWatch>{new HolderWatch{"key", 3, [](const Holding&) {}}}, at(0ms));
  harness.connect(0, at(0ms), "same");
  harness.connect(1, at(0ms), "another");
  harness.connect(2, at(0ms), "same");
  CHECK(harness.engine.session(2).trouble().status == redlock::NodeStatus::same_node);
  Time now = at(0ms);
  while (!harness.engine.session(2).take_dial() && now < at(20s)) {
    now += 10ms;
    harness.engine.on_time(now);
    for (const NodeIndex node : {0U, 1U})
      if (!harness.take_bytes(node).empty())
        for (const Reply& reply : {string_reply(""), string_reply(""), number(-2), string_reply("")})
          harness.engine.answered(node, reply, now);
  }
  CHECK(now >= at(10s));
  CHECK(now < at(15s));
}

TEST_CASE("a_watch_that_ended_reads_nothing_and_reports_nothing") {
  WatchHarness watch;
  const Ref<HolderWatch> second{
      new HolderWatch{"key", 3, [&](const Holding&) { FAIL("reported after the end"); }}};
  watch.engine.watch_holder(second, at(0ms));
  watch.engine.stop_watching(second.get());
  watch.engine.stop_watching(second.get());
  for (const NodeIndex node : {0U, 1U, 2U}) CHECK(watch.answer(node, {"one"}, at(1ms)) == reading);
  CHECK(watch.reports.size() == 1);
}

TEST_CASE("a_node_that_showed_nobody_before_an_owner_was_reported_is_read_again_before_it_counts") {
  WatchHarness watch;
  watch.arm({}, at(1ms));
  for (const NodeIndex node : {0U, 1U}) watch.change(node, {"one", "7"}, at(2ms));
  CHECK(watch.reports == Reports{{}, {"one", 7}});
  watch.change(0, {}, at(3ms));  // the owner has begun to leave; the third node has not said that it came
  CHECK(watch.reports.size() == 2);
  CHECK(watch.answer(2, {"one", "7"}, at(3ms)) == arming);
  watch.change(1, {}, at(4ms));
  CHECK(watch.reports == Reports{{}, {"one", 7}, {}});
}

TEST_CASE("what_a_node_shows_between_two_owners_does_not_count_for_a_watch") {
  WatchHarness watch;
  for (const NodeIndex node : {0U, 2U}) watch.answer(node, {node == 0 ? "one" : "", "7"}, at(1ms));
  const auto answer_between = [&](const char* before, const char* after, long long pttl) {
    watch.take_bytes(1);
    for (const Reply& reply : {string_reply(before), string_reply("7"), number(pttl), string_reply(after)})
      watch.engine.answered(1, reply, at(2ms));
  };
  answer_between("one", "two", 60'000);
  CHECK(watch.reports.empty());
  watch.engine.on_time(at(300ms));
  watch.answer(0, {"one", "7"}, at(300ms));
  answer_between("", "", 60'000);
  CHECK(watch.reports.empty());
  watch.engine.on_time(at(600ms));
  watch.answer(0, {"one", "7"}, at(600ms));
  answer_between("one", "one", 60'000);
  CHECK(watch.reports == Reports{{"one", 7}});
}

TEST_CASE("an_owner_that_has_left_is_reported_again_only_if_it_still_has_the_lock_after_a_while") {
  const bool is_back = GENERATE(false, true);
  WatchHarness watch;
  watch.arm({}, at(1ms));
  for (const NodeIndex node : {0U, 1U}) watch.change(node, {"one", "7"}, at(2ms));
  watch.engine.on_time(at(2ms));
  CHECK(watch.answer(2, {}, at(2ms)) == arming);  // the grant has not arrived there
  watch.change(0, {}, at(3ms));                   // but the release has here
  CHECK(watch.answer(1, {"one", "7"}, at(35ms)) == arming_both);
  CHECK(watch.reports == Reports{{}, {"one", 7}, {}});
  watch.change(2, {"one", "7"}, at(4ms));
  CHECK(watch.reports.size() == 3);
  if (!is_back)
    for (const NodeIndex node : {1U, 2U}) watch.change(node, {}, at(5ms));
  CHECK(watch.engine.timer() <= at(290ms));
  watch.engine.on_time(at(290ms));
  for (const NodeIndex node : {0U, 1U, 2U})
    watch.answer(node, {is_back && node > 0 ? "one" : "", "7"}, at(291ms));
  CHECK(watch.reports == (is_back ? Reports{{}, {"one", 7}, {}, {"one", 7}} : Reports{{}, {"one", 7}, {}}));
}
