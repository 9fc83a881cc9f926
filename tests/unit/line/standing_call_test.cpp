// A call that stands in the line of its client's engine.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/engine/engine.hpp"
#include "redlock/core/lock/pursuit.hpp"
#include "redlock/metrics/observer.hpp"
#include "support/catch.hpp"
#include "unit/support/engine_harness.hpp"
#include "unit/support/standing_client.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;

Pursuit::Call fair_call() {
  Pursuit::Call call{.claim = example_fenced_claim(),
                     .attempts = Pursuit::Attempts::until_time,
                     .give_up_at = at(1h),
                     .is_fair = true,
                     .owner_values = {std::string(40, '0'), "label"}};
  call.claim.heeds_flag = true;
  return call;
}
Reply held_by(const std::string& owner) { return array_reply({string_reply(owner), number(700)}); }

/// Answers everything that was sent, as nodes on which another client has the lock and nobody else stands in line.
void answer_all(EngineHarness& harness, Time now) {
  for (NodeIndex node = 0; node < harness.engine.nodes(); ++node) {
    const std::string bytes = harness.take_bytes(node);
    std::vector<std::string_view> words;
    for (std::string_view rest = bytes; !rest.empty();) {
      take_command(rest, words);
      const bool is_line = words[1] == line_script.sha1;
      const bool is_grant = words[1] == grant_script.sha1;
      harness.engine.answered(node,
                              is_grant  ? held_by("other")
                              : is_line ? place_reply(words[7].empty() ? -1 : 0, words[7].empty() ? 0 : 1)
                                        : number(1),
                              now);
    }
  }
}

/// Likewise, but of a user who may lack the rights to the keys of lines. Returns how often any node was asked to put the client
/// into a line, and the first one for a grant with the line's flag and without it.
struct Asked {
  int stands = 0;
  int with_flag = 0;
  int without_flag = 0;
};
Asked answer_user(EngineHarness& harness, bool has_rights, Time now) {
  Asked asked;
  const Reply refusal = text_reply(Reply::Kind::error, "NOPERM no permissions to access a key");
  for (NodeIndex node = 0; node < harness.engine.nodes(); ++node) {
    const std::string bytes = harness.take_bytes(node);
    std::vector<std::string_view> words;
    for (std::string_view rest = bytes; !rest.empty();) {
      take_command(rest, words);
      const bool is_line = words[1] == line_script.sha1;
      const bool is_grant = words[1] == grant_script.sha1;
      const bool names_flag = is_grant && std::ranges::any_of(words, [](std::string_view word) {
                                return word.starts_with("redlock:qw:");
                              });
      asked.stands += is_line && !words[7].empty();
      if (node == 0) asked.with_flag += names_flag;
      if (node == 0) asked.without_flag += is_grant && !names_flag;
      Reply reply = is_grant ? held_by("other") : is_line ? place_reply(1, 2) : number(1);
      if (!has_rights && (names_flag || is_line)) reply = refusal;
      harness.engine.answered(node, reply, now);
    }
  }
  return asked;
}
/// Answers until the time is `end`.
Asked answer_user_until(EngineHarness& harness, bool has_rights, Time now, Time end) {
  Asked sum;
  for (; now < end; now = harness.engine.timer()) {
    harness.engine.on_time(now);
    for (int round = 0; round < 4; ++round) {
      const Asked asked = answer_user(harness, has_rights, now);
      sum = {sum.stands + asked.stands, sum.with_flag + asked.with_flag,
             sum.without_flag + asked.without_flag};
    }
  }
  return sum;
}

/// Notes the lock and the step of each event of a line.
class LineObserver final : public redlock::Observer {
 public:
  void lined_up(const Line& event) override { events.emplace_back(event.resource, event.step); }
  std::vector<std::pair<std::string, LineStep>> events;
};

using Namer = std::function<std::string(int denial)>;

/// Nodes that say that the lock is free. When they are asked for it, the first one grants, and each other one says that it has
/// another owner value. Returns how many commands of these kinds were sent to the first node.
struct CommandCount {
  int grants = 0;
  int leaves = 0;
};
CommandCount deny(EngineHarness& harness, Time now, int& denials, const Namer& owner) {
  CommandCount sent;
  std::vector<std::string>
      bytes_for;  // taken before any answer, so that the first node is the first one to vote
  for (NodeIndex node = 0; node < harness.engine.nodes(); ++node)
    bytes_for.push_back(harness.take_bytes(node));
  for (NodeIndex node = 0; node < harness.engine.nodes(); ++node) {
    std::vector<std::string_view> words;
    for (std::string_view rest = bytes_for[node]; !rest.empty();) {
      take_command(rest, words);
      Reply reply = number(1);
      if (words[0] == "PTTL") reply = number(-2);
      if (words[1] == grant_script.sha1) {
        if (node > 0) reply = held_by(owner(++denials));
        sent.grants += node == 0 ? 1 : 0;
      }
      if (words[1] == line_script.sha1) {
        reply = place_reply(0, 1);
        sent.leaves += words[7].empty() ? 1 : 0;
      }
      harness.engine.answered(node, reply, now);
    }
  }
  return sent;
}

/// The pauses between the first attempts of a call that stands in line.
std::vector<Span> pauses_between_attempts(EngineHarness& harness, const Namer& owner) {
  const Ref<Operation> call{new Pursuit{fair_call(), harness.engine.nodes()}};
  harness.engine.submit(call, at(0ms));
  Time now = at(0ms);
  int denials = 0;
  std::vector<Time> attempts;
  while (attempts.size() < 8 && now < at(5s)) {
    for (int round = 0; round < 8; ++round) {
      const CommandCount sent = deny(harness, now, denials, owner);
      if (sent.grants > 0) attempts.push_back(now);
      CHECK(sent.leaves == 0);
    }
    REQUIRE(harness.engine.lines()->waited_for() == 1);
    now = harness.engine.timer();
    harness.engine.on_time(now);
  }
  REQUIRE(attempts.size() == 8);
  std::vector<Span> pauses;
  for (std::size_t at = 1; at < attempts.size(); ++at) pauses.push_back(attempts[at] - attempts[at - 1]);
  return pauses;
}

}  // namespace

TEST_CASE("heads_that_split_the_vote_keep_their_places_and_pause_longer_each_time") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const std::vector<Span> pauses =
      pauses_between_attempts(harness, [](int denial) { return "head " + std::to_string(denial); });
  CHECK(pauses[0] == 0ms);  // the first attempt was made outside of the line
  for (std::size_t at = 1; at < pauses.size(); ++at) {
    const Span window = std::chrono::milliseconds{1LL << at};
    CAPTURE(at, pauses[at].count());
    CHECK((pauses[at] >= window / 2 && pauses[at] <= window));
  }
}

TEST_CASE("a_holder_of_whom_a_head_sees_a_minority_of_copies_is_no_contender") {
  EngineHarness harness{5};  // the holder has two more copies, on nodes that this client does not reach
  harness.make_ready(at(0ms));
  for (const NodeIndex node : {3U, 4U}) harness.disconnect(node, at(0ms));
  // Only nodes that lie say after each denial that the lock is free.
  const std::vector<Span> pauses = pauses_between_attempts(harness, [](int) { return "holder"; });
  CHECK(pauses[0] == 0ms);
  CHECK(pauses[1] == 0ms);
  for (std::size_t at = 2; at < pauses.size(); ++at) CHECK((pauses[at] > 0ms && pauses[at] <= 8ms));
}

TEST_CASE("replies_that_come_after_a_line_is_over_leave_nothing_to_do") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const Ref<Operation> call{new Pursuit{fair_call(), 3}};
  harness.engine.submit(call, at(0ms));
  for (int round = 0; round < 4; ++round) answer_all(harness, at(1ms));
  REQUIRE(harness.engine.lines()->waited_for() == 1);
  harness.engine.abandon(call, Errc::cancelled, at(2ms));
  answer_all(harness, at(3ms));  // the gate says that the line is empty
  REQUIRE(harness.engine.lines()->empty());
  answer_all(harness, at(4ms));  // the flag was taken down
  CHECK(harness.engine.timer() > at(4ms));
}

TEST_CASE("a_call_that_was_refused_in_line_stands_there_a_minute_later_if_it_has_the_rights_then") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  harness.engine.submit(Ref<Operation>{new Pursuit{fair_call(), 3}}, at(0ms));
  const Asked refused = answer_user_until(harness, false, at(0ms), at(59s));
  CHECK(refused.with_flag == 1);
  CHECK(refused.stands == 1);
  CHECK(refused.without_flag > 50);  // it polls
  REQUIRE(harness.engine.lines()->empty());
  const Asked still_refused = answer_user_until(harness, false, harness.engine.timer(), at(110s));
  CHECK(still_refused.with_flag == 1);
  CHECK(still_refused.stands == 1);
  const Asked allowed = answer_user_until(harness, true, harness.engine.timer(), at(130s));
  CHECK(allowed.with_flag > 0);
  CHECK(harness.engine.lines()->waited_for() == 1);
}

TEST_CASE("an_observer_is_told_of_which_lock_a_call_may_not_read_the_flag") {
  const auto attempts = GENERATE(Pursuit::Attempts::one, Pursuit::Attempts::until_time);
  LineObserver observer;
  EngineHarness harness{3, std::nullopt, &observer};
  harness.make_ready(at(0ms));
  Pursuit::Call call = fair_call();
  call.attempts = attempts;
  call.is_fair = false;
  const std::string key = call.claim.key;
  harness.engine.submit(Ref<Operation>{new Pursuit{std::move(call), 3}}, at(0ms));
  for (int round = 0; round < 4; ++round) answer_user(harness, false, at(1ms));
  CHECK(observer.events == std::vector{std::pair{key, redlock::Observer::LineStep::refused}});
}

TEST_CASE("a_gate_that_says_forever_that_others_come_first_is_found_out") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const bool is_fenced = GENERATE(true, false);
  std::vector<NodeIndex> gates;
  bool is_free = false;
  const auto answer_all_as_liars = [&](Time now) {
    for (NodeIndex node = 0; node < harness.engine.nodes(); ++node) {
      const std::string bytes = harness.take_bytes(node);
      std::vector<std::string_view> words;
      for (std::string_view rest = bytes; !rest.empty();) {
        take_command(rest, words);
        Reply reply = number(1);
        if (words[1] == line_script.sha1) {
          reply = words[7].empty() ? place_reply(-1, 1) : place_reply(2, 3);
          if (!words[7].empty()) gates.push_back(node);
        } else if (words[1] == grant_script.sha1) {
          CHECK(bytes.find("redlock:qw:") != bytes.npos);  // heeds the flag
          reply = is_free ? number(1'700'000'000'000'000) : held_by("other");
        } else if (words[0] == "SET" && words[3] == "NX") {
          reply = text_reply(is_free ? Reply::Kind::status : Reply::Kind::nil, "OK");
        }
        harness.engine.answered(node, reply, now);
      }
    }
  };
  const auto wait_for = [&](const Ref<Operation>& call, Time begin) {
    harness.engine.submit(call, begin);
    for (Time now = begin; !call->done() && now < later(begin, 1h); now = harness.engine.timer()) {
      harness.engine.on_time(now);
      for (int round = 0; round < 4; ++round) answer_all_as_liars(now);
      is_free = true;  // after the first attempt
    }
    return call->done();
  };

  // The nodes that are asked for their order during a call.
  const auto gates_of_call = [&](Time begin) {
    gates.clear();
    is_free = false;
    Pursuit::Call terms = fair_call();
    if (!is_fenced) terms.claim.fence.reset();
    auto* const pursuit = new Pursuit{std::move(terms), 3};
    const Ref<Operation> call{pursuit};
    REQUIRE(wait_for(call, begin));
    CHECK(pursuit->granted());
    return gates;
  };

  const NodeIndex liar = gates_of_call(at(0ms)).front();
  CHECK_FALSE(harness.engine.take_warning());  // the others may have died or been paused
  const std::vector<NodeIndex> of_second_call = gates_of_call(at(8s));
  CHECK(std::set<NodeIndex>(of_second_call.begin(), of_second_call.end()) == std::set{liar});
  const auto warning = harness.engine.take_warning();
  REQUIRE(warning.has_value() ==
          is_fenced);  // a plain SET does not see the flag, so its grant proves nothing
  if (!is_fenced) return;
  CHECK(warning->find("lets calls wait for others that are not there") != warning->npos);
  const std::vector<NodeIndex> of_third_call = gates_of_call(at(16s));
  CHECK(std::count(of_third_call.begin(), of_third_call.end(), liar) == 0);
}
