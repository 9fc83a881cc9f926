#include "redlock/core/lock/pursuit.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/hex.hpp"
#include "redlock/core/wire/resp.hpp"
#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"
#include "unit/support/steps.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;
using redlock::NodeStatus;
using Attempts = Pursuit::Attempts;
using Mark = Tally::Mark;

constexpr std::chrono::microseconds time_of_call = 1795442531s;
constexpr auto unknown_time = std::nullopt;

Pursuit::Call call_for(Attempts attempts, Time give_up_at = never,
                       std::optional<Span> node_wait = std::nullopt) {
  return {.claim = example_fenced_claim(),
          .attempts = attempts,
          .give_up_at = give_up_at,
          .node_wait = node_wait,
          .owner_values = {std::string(40, '0'), "label"},
          .time_of_day = time_of_call,
          .seed = 7};
}
Pursuit::Call adoption(std::uint64_t token) {
  Pursuit::Call call = call_for(Attempts::one);
  call.claim.adopted_owner = "previous";
  call.adopted_token = token;
  return call;
}

/// A call on three nodes, with the part of the engine that runs its attempts.
class Play final : public Outbox {
 public:
  explicit Play(Pursuit::Call call) : pursuit{new Pursuit{std::move(call), 3}} {}

  void start(Span when = 0ms) {
    now = at(when);
    pursuit->start(now, *this);
  }
  /// Lets the current pause end.
  void end_pause() {
    now = pursuit->deadline();
    pursuit->timed_out(now, *this);
  }
  void abandon(Errc why, Span when) {
    now = at(when);
    pursuit->abandon(why, now, *this);
  }
  /// All nodes answer the current attempt.
  void answer(const Reply& reply, Span when) {
    for (NodeIndex node = 0; node < 3; ++node) answer(node, reply, when);
  }
  void answer(NodeIndex node, const Reply& reply, Span when) {
    now = at(when);
    const Ref<Operation> attempt = attempts.back();
    if (attempt->done()) return;  // late
    attempt->answered(node, acquisition_steps::asked, reply, now, *this);
    report_end(attempt);
  }
  /// From now on all attempts fail at once: one node is unreachable, and the others vote again after this time.
  void refuse(std::optional<std::chrono::milliseconds> votes_in) {
    refusals[0] = {NodeStatus::unreachable, "refused"};
    refusals[1] = refusals[2] = {NodeStatus::quarantined, "waits", votes_in};
  }
  void admit() { refusals = {}; }
  [[nodiscard]] bool pauses() const { return pursuit->pauses_until() > Time::min(); }
  [[nodiscard]] Span pauses_until() const { return pursuit->pauses_until() - at(0ms); }
  /// The words of the command of each attempt.
  [[nodiscard]] std::string owner(std::size_t attempt) const { return commands.at(attempt).at(5); }
  [[nodiscard]] std::string proposal(std::size_t attempt) const { return commands.at(attempt).at(7); }

  Ref<Pursuit> pursuit;
  std::vector<Ref<Operation>> attempts;
  std::size_t releases = 0;

 private:
  const Trouble* send(NodeIndex node, std::string_view command, Operation&, SendOptions options) override {
    if (options.is_release) ++releases;
    if (options.grants && node == 0) {
      std::vector<std::string_view> words;
      take_command(command, words);
      commands.emplace_back(words.begin(), words.end());
    }
    return refusals[node] ? &*refusals[node] : nullptr;
  }
  void submit(const Ref<Operation>& child) override {
    const Ref<Operation> attempt = attempts.emplace_back(child);
    attempt->start(now, *this);
    report_end(attempt);
  }
  void abandon(const Ref<Operation>& child, Errc why) override {
    const Ref<Operation> attempt{child};
    attempt->abandon(why, now, *this);
    report_end(attempt);
  }
  void report_end(const Ref<Operation>& attempt) {
    if (attempt->done()) attempt->parent->child_ended(*attempt, now, *this);
  }

  Time now{};
  std::array<std::optional<Trouble>, 3> refusals;
  std::vector<std::vector<std::string>> commands;
};

Reply granted(std::int64_t counter = 1795442531000000) { return number(counter); }
Reply held() { return array_reply({string_reply("other"), number(700)}); }

}  // namespace

TEST_CASE("a_majority_votes_when_enough_nodes_vote_again") {
  const auto one_voted = [](std::optional<std::chrono::milliseconds> votes_in) {
    Tally tally{3};
    tally.mark(0, Mark::yes);
    tally.mark(1, Mark::unknown, {NodeStatus::unreachable, "refused"});
    tally.mark(2, Mark::unknown, {NodeStatus::quarantined, "waits", votes_in});
    return tally;
  };
  CHECK(one_voted(700ms).majority_votes_in() == Span{700ms});
  CHECK(one_voted(unknown_time).majority_votes_in() == std::nullopt);
  Tally all{3};
  for (NodeIndex node = 0; node < 3; ++node) all.mark(node, Mark::no);
  CHECK(all.majority_votes_in() == Span{0ms});
}

// ── attempts and pauses ────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_call_is_done_with_the_attempt_that_gets_the_lock") {
  Play play{call_for(GENERATE(Attempts::one, Attempts::until_time), at(10s))};
  play.start();
  REQUIRE(play.attempts.size() == 1);
  CHECK_FALSE(play.pursuit->done());
  CHECK_FALSE(play.pauses());
  play.answer(granted(), 3ms);
  REQUIRE(play.pursuit->done());
  REQUIRE(play.pursuit->granted());
  CHECK(play.pursuit->granted()->begun() == at(0ms));
  CHECK(play.pursuit->granted()->take_claim().owner == std::string(40, '0') + " label @1795442531");
  CHECK_FALSE(play.pauses());
  CHECK(play.releases == 0);
}

TEST_CASE("a_call_for_one_attempt_ends_with_its_failure") {
  Play play{call_for(Attempts::one)};
  play.start();
  play.answer(held(), 3ms);
  REQUIRE(play.pursuit->done());
  CHECK_FALSE(play.pursuit->granted());
  const Pursuit::Failure failure = play.pursuit->take_failure();
  CHECK(failure.code == Errc::held);
  REQUIRE(failure.tally);
  CHECK(failure.tally->votes() == 2);
}

TEST_CASE("a_waiting_call_pauses_after_each_failed_attempt_and_tries_again") {
  Play play{call_for(Attempts::until_time)};
  play.start();
  Span when = 1ms;
  for (std::size_t attempt = 1; attempt < 20; ++attempt) {
    play.answer(held(), when);
    CHECK_FALSE(play.pursuit->done());
    REQUIRE(play.pauses());
    CHECK(play.pauses_until() > when);
    CHECK(play.pauses_until() <= when + 400ms);
    CHECK(play.attempts.size() == attempt);
    when = play.pauses_until() + 1ms;
    play.end_pause();
    CHECK_FALSE(play.pauses());
    CHECK(play.pursuit->deadline() == never);
  }
  play.answer(granted(1795442532000000 + static_cast<std::int64_t>(play.attempts.size())), when);
  CHECK(play.pursuit->done());
  CHECK(play.pursuit->granted());
}

TEST_CASE("each_attempt_has_its_own_owner_value_and_proposes_the_time_that_has_passed") {
  Play play{call_for(Attempts::until_time)};
  play.start(5s);
  Span begun = 5s;
  for (std::size_t attempt = 0; attempt < 20; ++attempt) {
    CAPTURE(attempt);
    const auto time_of_day = time_of_call + std::chrono::duration_cast<std::chrono::microseconds>(begun - 5s);
    std::string digits(14, '0');
    append_hex(digits, static_cast<unsigned char>(attempt));
    digits.resize(40, '0');
    CHECK(play.owner(attempt) ==
          digits + " label @" +
              std::to_string(std::chrono::floor<std::chrono::seconds>(time_of_day).count()));
    CHECK(play.proposal(attempt) == std::to_string(time_of_day.count()));
    play.answer(held(), begun + 1ms);
    begun = play.pauses_until();
    play.end_pause();
  }
  CHECK(begun > 6s);
}

TEST_CASE("a_misconfiguration_ends_a_waiting_call") {
  Play play{call_for(Attempts::until_time)};
  play.start();
  play.answer(noauth(), 1ms);
  REQUIRE(play.pursuit->done());
  CHECK(play.pursuit->take_failure().code == Errc::misconfigured);
}

// ── the end of the call ────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_call_whose_time_is_over_in_a_pause_reports_the_attempt_before") {
  Play play{call_for(Attempts::until_time, at(12ms))};
  play.start();
  CHECK(play.pursuit->give_up_at == at(12ms));
  play.answer(held(), 8ms);
  REQUIRE(play.pauses());
  CHECK(play.pauses_until() == 12ms);  // too late for another attempt
  play.abandon(Errc::timed_out, 12ms);
  REQUIRE(play.pursuit->done());
  const Pursuit::Failure failure = play.pursuit->take_failure();
  CHECK(failure.code == Errc::timed_out);
  REQUIRE(failure.tally);
  CHECK(failure.tally->votes() == 2);
}

TEST_CASE("an_attempt_that_is_cut_short_does_not_hide_the_reason_of_a_complete_one") {
  Play play{call_for(Attempts::until_time, at(100ms))};
  play.start();
  const bool is_first = GENERATE(true, false);
  if (!is_first) play.answer(held(), 1ms), play.end_pause();
  play.answer(0, held(), 90ms);
  play.abandon(Errc::timed_out, 100ms);
  REQUIRE(play.pursuit->done());
  CHECK(play.attempts.back()->done());
  CHECK(play.releases >= 3);
  const Pursuit::Failure failure = play.pursuit->take_failure();
  CHECK(failure.code == (is_first ? Errc::no_quorum : Errc::timed_out));
  REQUIRE(failure.tally);
  CHECK(failure.tally->votes() == (is_first ? 1 : 2));
}

TEST_CASE("a_call_that_is_cancelled_in_an_attempt_releases_it_and_reports_its_votes") {
  Play play{call_for(GENERATE(Attempts::one, Attempts::until_time))};
  play.start();
  play.answer(0, granted(), 1ms);
  play.abandon(Errc::cancelled, 2ms);
  REQUIRE(play.pursuit->done());
  CHECK(play.releases == 3);
  CHECK(play.attempts.size() == 1);
  const Pursuit::Failure failure = play.pursuit->take_failure();
  CHECK(failure.code == Errc::cancelled);
  REQUIRE(failure.tally);
  CHECK(failure.tally->votes() == 1);
}

TEST_CASE("a_call_that_is_cancelled_between_attempts_or_before_the_first_has_no_votes_to_report") {
  Play play{call_for(Attempts::until_time)};
  const bool has_begun = GENERATE(true, false);
  if (has_begun) play.start(), play.answer(held(), 1ms);
  const std::size_t released = play.releases;
  play.abandon(Errc::cancelled, 2ms);
  REQUIRE(play.pursuit->done());
  CHECK(play.releases == released);
  CHECK(play.attempts.size() == (has_begun ? 1 : 0));
  const Pursuit::Failure failure = play.pursuit->take_failure();
  CHECK(failure.code == Errc::cancelled);
  CHECK_FALSE(failure.tally);
}

TEST_CASE("a_call_that_is_done_makes_no_further_attempt") {
  Play play{call_for(Attempts::until_time)};
  play.start();
  play.answer(held(), 1ms);
  play.abandon(Errc::cancelled, 2ms);
  play.end_pause();
  CHECK(play.attempts.size() == 1);
}

// ── nodes that wait ────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_call_for_one_attempt_waits_for_nodes_only_if_it_is_told_to") {
  for (const std::optional<Span> none : {std::optional<Span>{}, std::optional<Span>{0ms}}) {
    Play plain{call_for(Attempts::one, never, none)};
    plain.refuse(100ms);
    plain.start();
    CHECK(plain.pursuit->take_failure().code == Errc::no_quorum);
  }
  Play waiting{call_for(Attempts::one, never, 2s)};
  waiting.refuse(100ms);
  waiting.start();
  REQUIRE(waiting.pauses());
  CHECK(waiting.pauses_until() == 100ms);
  waiting.admit();
  waiting.end_pause();
  REQUIRE(waiting.attempts.size() == 2);
  CHECK(waiting.owner(1) != waiting.owner(0));
  // The lock is held: that ends it.
  waiting.answer(held(), 102ms);
  REQUIRE(waiting.pursuit->done());
  CHECK(waiting.pursuit->take_failure().code == Errc::held);
}

TEST_CASE("the_wait_for_nodes_ends_on_time_and_looks_twice_a_second") {
  Play play{call_for(Attempts::one, never, 1200ms)};
  play.refuse(60s);
  play.start();
  for (const Span until : {500ms, 1000ms, 1200ms}) {
    REQUIRE(play.pauses());
    CHECK(play.pauses_until() == until);
    play.end_pause();
  }
  REQUIRE(play.pursuit->done());
  CHECK(play.pursuit->take_failure().code == Errc::no_quorum);
  // A node that may vote at once is not asked without a pause.
  Play at_once{call_for(Attempts::one, never, 1s)};
  at_once.refuse(0ms);
  at_once.start();
  REQUIRE(at_once.pauses());
  CHECK(at_once.pauses_until() == 10ms);
}

TEST_CASE("a_call_for_one_attempt_does_not_wait_for_nodes_that_do_not_say_when_they_vote") {
  Play play{call_for(Attempts::one, never, 10s)};
  play.refuse(unknown_time);
  play.start();
  REQUIRE(play.pursuit->done());
  CHECK(play.pursuit->take_failure().code == Errc::no_quorum);
}

TEST_CASE("a_waiting_call_gives_up_on_nodes_that_wait_when_its_node_wait_is_over") {
  Play play{call_for(Attempts::until_time, at(100s), 1s)};
  play.refuse(60s);
  play.start();
  Span last{};
  while (play.pauses()) {
    last = play.pauses_until();
    REQUIRE(last <= 1s);
    play.end_pause();
  }
  CHECK(last == 1s);
  REQUIRE(play.pursuit->done());
  CHECK(play.pursuit->take_failure().code == Errc::no_quorum);
}

TEST_CASE("each_outage_has_a_node_wait_of_its_own_and_unreachable_nodes_have_none") {
  Play play{call_for(Attempts::until_time, at(100s), 1s)};
  const auto fail_until = [&](Span when) {
    while (play.pauses() && play.pauses_until() < when) play.end_pause();
  };
  play.refuse(60s);
  play.start();
  fail_until(900ms);
  play.refuse(unknown_time);
  fail_until(10s);
  REQUIRE(play.pauses());
  const Span begun = play.pauses_until();
  play.refuse(60s);
  fail_until(begun + 1s);
  REQUIRE(play.pauses());
  CHECK(play.pauses_until() == begun + 1s);
  play.end_pause();
  CHECK(play.pursuit->done());
  Play without{call_for(Attempts::until_time, at(100s))};
  without.refuse(60s);
  without.start();
  while (without.pauses_until() < 99s) {
    without.end_pause();
    REQUIRE(without.pauses());
  }
}

// ── adoption ───────────────────────────────────────────────────────────────────────────────────────────────

TEST_CASE("a_lock_that_another_client_has_is_lost_to_its_adopter") {
  Play play{adoption(5)};
  play.start();
  play.answer(held(), 1ms);
  REQUIRE(play.pursuit->done());
  CHECK(play.pursuit->take_failure().code == Errc::lost);
}

TEST_CASE("a_lock_may_still_be_adopted_while_no_majority_has_one_owner") {
  Play play{adoption(5)};
  play.start();
  for (NodeIndex node = 0; node < 3; ++node)
    play.answer(node, array_reply({string_reply("owner " + std::to_string(node)), number(700)}), 1ms);
  REQUIRE(play.pursuit->done());
  CHECK(play.pursuit->take_failure().code == Errc::no_quorum);
}

TEST_CASE("an_adoption_proposes_more_than_the_adopted_token_whatever_the_clock_says") {
  Play behind{adoption(1795442531000007)};
  behind.start();
  CHECK(behind.proposal(0) == "1795442531000008");
  Play ahead{adoption(7)};
  ahead.start();
  CHECK(ahead.proposal(0) == "1795442531000000");
}
