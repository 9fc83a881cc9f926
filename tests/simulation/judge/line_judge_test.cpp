// Each rule of the judge of waiting lines, kept and broken.
#include "simulation/judge/line_judge.hpp"

#include <optional>
#include <string>

#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;

/// A world about lines whose clients have begun long ago.
struct LineFixture {
  explicit LineFixture(int seats = 0) {
    schedule.is_about_lines = true;
    schedule.seats = seats;
  }

  /// A call that joins its line at once.
  void stand(int client, Instant now) {
    judge.called({client, 0}, 0, true, now);
    judge.stands({client, 0}, true, now);
  }
  void stand_as_reader(int client, Instant now) {
    judge.called({client, 0}, 0, true, now, true);
    judge.stands({client, 0}, true, now);
  }
  Schedule schedule;
  std::optional<Rule> broken;
  LineJudge judge{schedule, [this](Rule rule, Instant, const std::string&) { broken = rule; }};
};

}  // namespace

TEST_CASE("a_call_must_not_be_served_before_one_that_stood_in_line_when_it_began") {
  for (const bool was_enqueued : {false, true}) {
    LineFixture fixture;
    fixture.stand(0, 100 * millisecond);
    if (was_enqueued) fixture.judge.enqueued(0, 0, 2, 110 * millisecond);
    fixture.judge.called({1, 0}, 0, true, 120 * millisecond);
    fixture.judge.granted({1, 0}, 130 * millisecond);
    CHECK(fixture.broken == (was_enqueued ? std::optional{Rule::order} : std::nullopt));
    CHECK(fixture.judge.bypasses() == (was_enqueued ? 1 : 0));
  }
}

TEST_CASE("a_bypass_after_a_fault_is_only_counted") {
  LineFixture fixture;
  fixture.stand(0, 100 * millisecond);
  fixture.judge.enqueued(0, 0, 2, 110 * millisecond);
  fixture.judge.disturbed({.kind = Fault::Kind::stall, .at = 115 * millisecond}, 115 * millisecond);
  fixture.judge.called({1, 0}, 0, true, 120 * millisecond);
  fixture.judge.granted({1, 0}, 130 * millisecond);
  CHECK_FALSE(fixture.broken);
  CHECK(fixture.judge.bypasses() == 1);
}

TEST_CASE("only_the_first_one_in_line_asks_and_one_that_was_displaced_hears_of_it_soon") {
  for (const Instant since_displaced : {millisecond, second}) {
    for (const bool was_paused : {false, true}) {
      LineFixture fixture;
      for (const int client : {0, 1}) {
        fixture.stand(client, 100 * millisecond);
        fixture.judge.enqueued(client, 0, 2, 110 * millisecond);
      }
      fixture.judge.is_first(1, 0, 2, 110 * millisecond);
      fixture.judge.asks({1, 0}, 200 * millisecond);
      REQUIRE_FALSE(fixture.broken);
      fixture.judge.is_first(0, 0, 2, 200 * millisecond);
      const Instant now = 200 * millisecond + since_displaced;
      if (was_paused)
        fixture.judge.disturbed({.kind = Fault::Kind::pause, .at = 0, .length = now, .client = 1}, now);
      fixture.judge.asks({1, 0}, now);
      const bool had_time = since_displaced > millisecond && !was_paused;
      CHECK(fixture.broken == (had_time ? std::optional{Rule::order} : std::nullopt));
    }
  }
}

TEST_CASE("a_free_lock_must_be_taken_soon_and_after_the_death_of_a_member_within_its_life") {
  for (const bool somebody_died : {false, true}) {
    LineFixture fixture;
    if (somebody_died) fixture.judge.disturbed({.kind = Fault::Kind::client_crash, .at = 0}, 0);
    fixture.judge.look_at(0, true, second);
    CHECK(fixture.broken == (somebody_died ? std::nullopt : std::optional{Rule::wake_up}));
    fixture.judge.look_at(0, true, 7 * second);
    CHECK(fixture.broken == Rule::wake_up);
  }
}

TEST_CASE("readers_who_are_the_first_in_line_must_soon_join_those_who_have_the_lock") {
  enum class Event { none, granted, left, follows, excused };
  for (const Event event : {Event::none, Event::granted, Event::left, Event::follows, Event::excused}) {
    LineFixture fixture;
    fixture.stand_as_reader(0, 0);
    fixture.stand_as_reader(1, 0);
    fixture.judge.look_at_readers(0, 0, 100 * millisecond);
    const Instant now = 990 * millisecond;
    if (event == Event::granted) fixture.judge.granted({1, 0}, now);
    if (event == Event::left) fixture.judge.stands({0, 0}, false, now);
    if (event == Event::follows) fixture.judge.look_at_readers(0, 1, now);
    if (event == Event::excused) fixture.judge.disturbed({.kind = Fault::Kind::stall, .at = now}, now);
    fixture.judge.look_at_readers(0, event == Event::follows ? 1 : 0, second);
    CHECK(fixture.broken == (event == Event::none ? std::optional{Rule::wake_up} : std::nullopt));
  }
}

TEST_CASE("readers_who_could_not_have_the_lock_meanwhile_have_waited_only_since_then") {
  LineFixture fixture;
  fixture.judge.look_at_readers(0, 0, 100 * millisecond);
  fixture.judge.look_at_readers(0, std::nullopt, 980 * millisecond);
  fixture.judge.look_at_readers(0, 0, 990 * millisecond);
  fixture.judge.look_at_readers(0, 0, second);
  CHECK_FALSE(fixture.broken);
  fixture.judge.look_at_readers(0, 0, 2 * second);
  CHECK(fixture.broken == Rule::wake_up);
}

TEST_CASE("the_first_one_in_line_stands_for_readers_alone_if_all_its_calls_are_readers") {
  LineFixture fixture;
  const auto anybody = [](int) { return true; };
  fixture.stand_as_reader(0, 100 * millisecond);
  CHECK_FALSE(fixture.judge.first_readers(0, anybody));  // no gate knows of it
  fixture.judge.enqueued(0, 0, 2, 110 * millisecond);
  fixture.judge.is_first(1, 0, 2, 110 * millisecond);
  CHECK_FALSE(fixture.judge.first_readers(0, anybody));
  fixture.judge.is_first(0, 0, 2, 120 * millisecond);
  CHECK(fixture.judge.first_readers(0, anybody) == 0);
  CHECK_FALSE(fixture.judge.first_readers(1, anybody));
  CHECK_FALSE(fixture.judge.first_readers(0, [](int client) { return client != 0; }));
  fixture.judge.called({0, 1}, 0, true, 130 * millisecond);
  CHECK(fixture.judge.first_readers(0, anybody) == 0);  // the writer does not stand in line yet
  fixture.judge.stands({0, 1}, true, 130 * millisecond);
  CHECK_FALSE(fixture.judge.first_readers(0, anybody));
}

TEST_CASE("a_first_one_in_line_that_has_not_redialled_yet_keeps_those_behind_it_from_the_lock") {
  LineFixture fixture;
  const auto only_one = [](int client) { return client == 1; };
  const auto nobody = [](int) { return false; };
  for (const int client : {0, 1}) {
    fixture.stand(client, 100 * millisecond);
    fixture.judge.enqueued(client, 0, 2, 110 * millisecond);
  }
  fixture.judge.is_first(0, 0, 2, 110 * millisecond);
  CHECK(fixture.judge.any_able(0, only_one, 120 * millisecond));
  const Instant crashed = 130 * millisecond;
  fixture.judge.disturbed({.kind = Fault::Kind::crash_empty, .at = crashed, .length = second}, crashed);
  const Instant redialled = fixture.judge.redialled_at();
  CHECK_FALSE(fixture.judge.any_able(0, only_one, redialled - millisecond));
  CHECK(fixture.judge.any_able(0, only_one, redialled));
  CHECK_FALSE(fixture.judge.any_able(0, nobody, redialled));
  fixture.judge.is_first(1, 0, 2, 140 * millisecond);
  CHECK(fixture.judge.any_able(0, only_one, 150 * millisecond));
}

TEST_CASE("each_free_seat_must_be_taken_soon_after_the_last_grant") {
  for (const Instant last_grant : {10 * millisecond, 990 * millisecond}) {
    LineFixture fixture{2};
    fixture.stand(0, 0);
    fixture.judge.granted({0, 0}, last_grant);
    fixture.judge.look_at(0, false, second);
    fixture.judge.look_at(1, true, second);
    CHECK(fixture.broken == (last_grant < 500 * millisecond ? std::optional{Rule::wake_up} : std::nullopt));
  }
}

TEST_CASE("a_member_that_dies_while_the_gate_is_stopped_counts_as_alive_for_its_life_after_that") {
  for (const bool somebody_died : {false, true}) {
    LineFixture fixture;
    const Fault stop{.kind = Fault::Kind::stall, .at = 0, .length = second};
    fixture.judge.disturbed(stop, 0);
    if (somebody_died) {
      const Instant now = 500 * millisecond;
      fixture.judge.disturbed({.kind = Fault::Kind::client_crash, .at = now}, now);
    }
    fixture.judge.disturbed(stop, second);
    fixture.judge.look_at(0, true, 7 * second);
    CHECK(fixture.broken == (somebody_died ? std::nullopt : std::optional{Rule::wake_up}));
    fixture.judge.look_at(0, true, 10 * second);
    CHECK(fixture.broken == Rule::wake_up);
  }
}

TEST_CASE("if_the_gate_may_not_publish_each_new_first_one_has_the_time_to_look") {
  for (const bool may_publish : {false, true}) {
    LineFixture fixture;
    const Fault refusal{.kind = Fault::Kind::no_publish, .at = -9 * second, .length = 20 * second};
    if (!may_publish) fixture.judge.disturbed(refusal, refusal.at);
    fixture.judge.is_first(0, 0, 2, 0);
    fixture.judge.is_first(1, 0, 2, 400 * millisecond);
    fixture.judge.look_at(0, true, 500 * millisecond);
    CHECK(fixture.broken == (may_publish ? std::optional{Rule::wake_up} : std::nullopt));
    fixture.judge.look_at(0, true, second);
    CHECK(fixture.broken == Rule::wake_up);
  }
}

TEST_CASE("a_flag_must_not_stand_for_nobody") {
  LineFixture fixture;
  fixture.judge.look(false, true, 0);
  fixture.judge.look(true, true, millisecond);
  CHECK_FALSE(fixture.broken);
  fixture.judge.look(true, true, second);
  CHECK(fixture.broken == Rule::quiescence);
}

TEST_CASE("a_node_tells_only_those_whom_a_change_concerns") {
  LineFixture fixture;
  fixture.judge.is_first(0, 0, 2, millisecond);
  fixture.judge.is_first(1, 0, 2, 2 * millisecond);
  for (const int displaced_or_first : {0, 1}) fixture.judge.told(displaced_or_first, 0, 2, 2 * millisecond);
  CHECK_FALSE(fixture.broken);
  SECTION("another member") { fixture.judge.told(2, 0, 2, 2 * millisecond); }
  SECTION("nothing has changed") { fixture.judge.told(1, 0, 2, 3 * millisecond); }
  CHECK(fixture.broken == Rule::traffic);
}

TEST_CASE("a_grant_to_a_call_in_line_takes_about_one_attempt") {
  for (const int attempts : {15, 30}) {
    LineFixture fixture;
    fixture.stand(0, 0);
    for (int attempt = 0; attempt < attempts; ++attempt) fixture.judge.asks({0, 0}, millisecond);
    for (int grant = 0; grant < 10; ++grant) fixture.judge.granted({0, 0}, millisecond);
    fixture.judge.judge_attempts(5, second);
    CHECK(fixture.broken == (attempts > 15 ? std::optional{Rule::traffic} : std::nullopt));
  }
}

TEST_CASE("a_flag_must_stand_for_those_in_line") {
  for (const bool is_up : {true, false}) {
    LineFixture fixture;
    fixture.stand(0, 100 * millisecond);
    fixture.judge.enqueued(0, 0, 2, 110 * millisecond);
    fixture.judge.look(false, is_up, 120 * millisecond);
    CHECK_FALSE(fixture.broken);
    fixture.judge.look(false, is_up, second);
    fixture.judge.look(false, is_up, 2 * second);
    CHECK(fixture.broken == (is_up ? std::nullopt : std::optional{Rule::order}));
  }
}

TEST_CASE("calls_that_stand_in_line_for_all_locks_must_not_leave_all_of_them_free") {
  enum class End { none, granted, left, died };
  for (const End end : {End::none, End::granted, End::left, End::died}) {
    LineFixture fixture;
    const auto stands = [&] { return fixture.judge.any_joint([](int) { return true; }); };
    fixture.judge.called_for_all({0, 0}, true, 0);
    fixture.judge.stands_for_all({0, 0}, true, 0);
    REQUIRE(stands());
    CHECK(fixture.judge.any_standing(1, [](int client) { return client == 0; }));
    CHECK_FALSE(fixture.judge.any_standing(1, [](int client) { return client == 1; }));
    fixture.judge.look_at_all(true, 3 * second);
    REQUIRE(fixture.broken == std::optional{Rule::wake_up});
    fixture.broken.reset();
    fixture.judge.look_at_all(false, 3 * second);
    if (end == End::granted) fixture.judge.granted_together({0, 0}, 4 * second);
    if (end == End::left) fixture.judge.ended({0, 0});
    if (end == End::died) fixture.judge.died(0);
    CHECK(stands() == (end == End::none || end == End::granted));
    fixture.judge.look_at_all(stands(), 4 * second);
    CHECK(fixture.broken == (end == End::none ? std::optional{Rule::wake_up} : std::nullopt));
  }
}

TEST_CASE("calls_for_all_locks_keep_their_order_in_the_first_line") {
  enum class Later { for_all, for_the_first, for_another };
  for (const Later later : {Later::for_all, Later::for_the_first, Later::for_another}) {
    LineFixture fixture;
    fixture.judge.called_for_all({0, 0}, true, 100 * millisecond);
    fixture.judge.stands_for_all({0, 0}, true, 100 * millisecond);
    fixture.judge.enqueued(0, 0, 2, 110 * millisecond);
    const Instant called = 120 * millisecond;
    if (later == Later::for_all) {
      fixture.judge.called_for_all({1, 0}, true, called);
      fixture.judge.granted_together({1, 0}, 130 * millisecond);
    } else {
      fixture.judge.called({1, 0}, later == Later::for_the_first ? 0 : 1, true, called);
      fixture.judge.granted({1, 0}, 130 * millisecond);
    }
    CHECK(fixture.broken == (later == Later::for_another ? std::nullopt : std::optional{Rule::order}));
  }
}

TEST_CASE("a_call_for_all_locks_is_not_served_before_one_for_the_first_that_stood_in_line") {
  LineFixture fixture;
  fixture.stand(0, 100 * millisecond);
  fixture.judge.enqueued(0, 0, 2, 110 * millisecond);
  fixture.judge.called_for_all({1, 0}, true, 120 * millisecond);
  fixture.judge.granted_together({1, 0}, 130 * millisecond);
  CHECK(fixture.broken == Rule::order);
}

TEST_CASE("the_first_one_in_line_that_gives_up_lets_the_next_one_ask_in_vain") {
  enum class Leaves { nobody, first, second };
  for (const Leaves leaves : {Leaves::nobody, Leaves::first, Leaves::second}) {
    LineFixture fixture;
    for (int client = 0; client < 2; ++client) {
      fixture.stand(client, 100 * millisecond);
      fixture.judge.enqueued(client, 0, 2, 110 * millisecond);
    }
    fixture.judge.is_first(0, 0, 2, 110 * millisecond);
    for (int attempt = 0; attempt < 6; ++attempt) fixture.judge.asks({0, 0}, 200 * millisecond);
    if (leaves != Leaves::nobody)
      fixture.judge.stands({leaves == Leaves::first ? 0 : 1, 0}, false, 200 * millisecond);
    fixture.judge.judge_attempts(0, second);
    CHECK(fixture.broken == (leaves == Leaves::first ? std::nullopt : std::optional{Rule::traffic}));
  }
}

TEST_CASE("attempts_are_not_counted_where_calls_ask_for_several_locks") {
  for (const int together : {0, 50}) {
    LineFixture fixture;
    fixture.schedule.workload.together = together;
    fixture.stand(0, 100 * millisecond);
    for (int attempt = 0; attempt < 10; ++attempt) fixture.judge.asks({0, 0}, 200 * millisecond);
    fixture.judge.judge_attempts(0, second);
    CHECK(fixture.broken == (together == 0 ? std::optional{Rule::traffic} : std::nullopt));
  }
}
