// A call for several locks, in the engine.
#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/engine/engine.hpp"
#include "redlock/core/lock/joint_pursuit.hpp"
#include "support/catch.hpp"
#include "support/recording_observer.hpp"
#include "unit/support/engine_harness.hpp"
#include "unit/support/recording_outbox.hpp"
#include "unit/support/standing_client.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;

Reply held_by_other() { return array_reply({string_reply("other"), number(700)}); }

/// A call for the locks `a` and `b` on three nodes, which are connected.
struct JointCall {
  explicit JointCall(Attempts attempts = Attempts::one, const std::vector<std::string>& keys = {"a", "b"}) {
    harness.make_ready(at(0ms));
    std::vector<Claim> claims(keys.size(), example_fenced_claim());
    for (std::size_t which = 0; which < keys.size(); ++which) {
      claims[which].key = keys[which];
      claims[which].heeds_flag = true;
    }
    pursuit = Ref<JointPursuit>{new JointPursuit{
        {.claim = {}, .attempts = attempts, .is_fair = true, .owner_values = {std::string(40, '0'), "label"}},
        std::move(claims),
        3}};
    harness.engine.submit(Ref<Operation>{pursuit.get()}, at(1ms));
  }
  void answer_all(const Reply& reply, Time now) {
    for (NodeIndex node = 0; node < 3; ++node) harness.engine.answered(node, reply, now);
  }

  RecordingObserver recorder;
  EngineHarness harness{3, std::nullopt, &recorder};
  Ref<JointPursuit> pursuit;
};

/// Nodes on which other clients have locks, and stand in lines. They answer until the engine sends nothing any more.
struct Others {
  void answer(EngineHarness& harness, Time now) {
    const auto answer_one = [&](NodeIndex node, const std::vector<std::string_view>& words) {
      const std::string key{words.size() > 3 ? words[3] : words[1]};
      if (words[0] == "PTTL") return number(has.contains(key) ? 60000 : -2);
      if (words[1] == exclusive_lock.grant.sha1) {
        const bool heeds_flag =
            std::ranges::any_of(words, [](std::string_view word) { return word.starts_with("redlock:qw:"); });
        if (node == 0) asked.push_back(key);
        if (node == 0 && heeds_flag) heeded.push_back(key);
        return has.contains(key) ? held_by_other() : number(100);
      }
      if (words[1] != line_script.sha1) return number(1);
      const std::string lock{*lock_key_of_order(key)};
      const bool leaves = words[7].empty();
      lines.insert((leaves ? "leave " : "join ") + lock);
      return leaves ? place_reply(-1, 0) : place_reply(before.contains(lock) ? 1 : 0, 2);
    };
    for (bool has_sent = true; has_sent;) {
      has_sent = false;
      for (NodeIndex node = 0; node < harness.engine.nodes(); ++node) {
        const std::string bytes = harness.take_bytes(node);
        has_sent = has_sent || !bytes.empty();
        std::vector<std::string_view> words;
        for (std::string_view rest = bytes; !rest.empty();) {
          take_command(rest, words);
          harness.engine.answered(node, answer_one(node, words), now);
        }
      }
    }
  }
  std::set<std::string> has;     // locks
  std::set<std::string> before;  // in whose lines they stand before this client
  std::set<std::string> lines;
  std::vector<std::string> asked;   // the locks of the attempts,
  std::vector<std::string> heeded;  // and those that nodes deny if their flag is up
};

}  // namespace

TEST_CASE("all_locks_of_a_call_are_asked_for_in_one_event_and_valid_until_the_same_time") {
  JointCall call;
  for (NodeIndex node = 0; node < 3; ++node) {
    const std::string bytes = call.harness.take_bytes(node);
    CHECK(bytes.find("\r\na\r\n") < bytes.find("\r\nb\r\n"));
    CHECK(bytes.find("\r\nb\r\n") != std::string::npos);
  }
  call.answer_all(number(100), at(2ms));
  CHECK_FALSE(call.pursuit->done());
  call.answer_all(number(100), at(3ms));
  REQUIRE(call.pursuit->done());
  REQUIRE(call.pursuit->granted());
  JointAcquisition& all = *call.pursuit->granted();
  CHECK(all[0].valid_until() == all[1].valid_until());
  CHECK(all[0].take_claim().owner != all[1].take_claim().owner);
  for (NodeIndex node = 0; node < 3; ++node) CHECK(call.harness.take_bytes(node).empty());
}

TEST_CASE("a_lock_that_was_granted_is_given_back_when_another_one_is_denied") {
  JointCall call;
  for (NodeIndex node = 0; node < 3; ++node) static_cast<void>(call.harness.take_bytes(node));
  const bool is_granted_before = GENERATE(true, false);
  if (is_granted_before) call.answer_all(number(100), at(2ms));
  for (NodeIndex node = 0; node < (is_granted_before ? 2U : 0U); ++node)
    call.harness.engine.answered(node, held_by_other(), at(3ms));
  if (!is_granted_before)  // the first two nodes deny a, and nobody has answered for b
    for (NodeIndex node = 0; node < 2; ++node) call.harness.engine.answered(node, held_by_other(), at(3ms));
  REQUIRE(call.pursuit->done());
  const JointPursuit::Failure failure = call.pursuit->take_failure();
  CHECK(failure.code == Errc::held);
  CHECK(failure.which == (is_granted_before ? 1 : 0));
  for (NodeIndex node = 0; node < 3; ++node) {
    const std::string bytes = call.harness.take_bytes(node);
    for (const std::string_view key : {"\r\na\r\n", "\r\nb\r\n"}) CHECK(bytes.find(key) != std::string::npos);
    CHECK(bytes.find(release_script.sha1) != std::string::npos);
    CHECK(bytes.find(exclusive_lock.grant.sha1) == std::string::npos);
  }
  CHECK(call.harness.engine.active() == 0);
  CHECK(call.recorder.attempts().size() == 2);
}

TEST_CASE("a_call_for_several_locks_ends_when_the_client_is_shut_down") {
  JointCall call{Attempts::until_time};
  const bool is_denied = GENERATE(true, false);
  if (is_denied) {
    call.answer_all(held_by_other(), at(2ms));
    CHECK_FALSE(call.pursuit->done());
  }
  call.harness.engine.shut_down({}, at(3ms));
  REQUIRE(call.pursuit->done());
  CHECK(call.pursuit->take_failure().code == Errc::cancelled);
  CHECK(call.harness.engine.active() == 0);
}

TEST_CASE("a_call_that_falls_behind_in_a_line_joins_all_later_lines_again") {
  JointCall call{Attempts::until_time, {"a", "b", "c"}};
  EngineHarness& harness = call.harness;
  Others others;
  others.has = {"c"};
  others.answer(harness, at(2ms));
  CHECK(others.asked == std::vector<std::string>{"a", "b", "c"});
  CHECK(others.lines == std::set<std::string>{"join a", "join b", "join c"});
  CHECK_FALSE(call.pursuit->done());

  others.lines.clear();
  others.before = {"a"};
  harness.engine.on_time(at(2s));  // the next look
  others.answer(harness, at(2s));
  CHECK(others.lines == std::set<std::string>{"join a", "join b", "join c", "leave b", "leave c"});
  CHECK(others.asked.size() == 6);  // as the first one in the line of a it had put its attempts off
  CHECK(others.heeded ==
        std::vector<std::string>{"a", "b", "c"});  // only at first: later the flags are its own

  others.lines.clear();
  others.before.clear();
  harness.engine.on_time(at(4s));
  others.answer(harness, at(4s));
  CHECK(others.lines == std::set<std::string>{"join a", "join b", "join c"});
  CHECK(others.asked.size() == 6);
  harness.engine.shut_down({}, at(5s));
}
