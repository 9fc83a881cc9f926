// Each rule of the judge, kept and broken.
#include "simulation/judge/judge.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;

/// A judge over three nodes. The test sets time and copies.
struct JudgeFixture {
  explicit JudgeFixture(Profile profile, bool names_seats = true)
      : judge{schedule,
              {.is_valid = [this](int, Instant deadline) { return now < deadline; },
               .copies = [this](int, std::string_view) { return NodeSet{(1U << copies) - 1}; }},
              names_seats} {
    schedule.profile = profile;
    schedule.nodes = 3;
  }

  Judge::LeaseIndex hold(int client, std::uint64_t token, Instant invoked, Instant begun, Instant deadline,
                         int resource = 0) {
    now = begun;
    return judge.begin({.resource = resource,
                        .client = client,
                        .owner = "owner",
                        .token = token,
                        .invoked = invoked,
                        .begun = begun,
                        .deadline = deadline},
                       begun);
  }
  /// `downgraded`: it was the writer until then.
  Judge::LeaseIndex read(int client, std::uint64_t token, Instant invoked, Instant begun, Instant deadline,
                         bool downgraded = false) {
    now = begun;
    return judge.begin({.resource = 0,
                        .client = client,
                        .owner = "reader",
                        .token = token,
                        .invoked = invoked,
                        .begun = begun,
                        .deadline = deadline,
                        .adopted = downgraded,
                        .shared = true,
                        .downgraded = downgraded},
                       begun);
  }
  [[nodiscard]] std::optional<Rule> broken() const {
    if (!judge.violation()) return std::nullopt;
    return judge.violation()->rule;
  }

  Schedule schedule;
  Instant now = 0;
  std::uint64_t last_token = 0;
  unsigned copies = 3;  // on the first nodes
  Judge judge;
};

}  // namespace

TEST_CASE("consecutive_leases_do_not_violate_exclusion") {
  JudgeFixture fixture{Profile::within};
  fixture.hold(0, 1, 0, 10, 20);
  fixture.hold(1, 2, 15, 20, 30);
  CHECK_FALSE(fixture.broken());
}

TEST_CASE("overlapping_leases_violate_exclusion_within_the_assumptions_and_are_counted_beyond_them") {
  JudgeFixture within{Profile::within};
  within.hold(0, 1, 0, 10, 20);
  within.hold(1, 2, 5, 19, 30);
  CHECK(within.broken() == Rule::exclusion);
  JudgeFixture beyond{Profile::beyond};
  beyond.hold(0, 1, 0, 10, 20);
  beyond.hold(1, 2, 5, 19, 30);
  CHECK_FALSE(beyond.broken());
  CHECK(beyond.judge.figures().overlaps == 1);
}

TEST_CASE("readers_may_overlap_and_have_one_token_but_no_writer_is_beside_them") {
  JudgeFixture fixture{Profile::within};
  fixture.read(0, 2, 0, 10, 30);
  fixture.read(1, 2, 5, 11, 20);
  fixture.read(2, 1, 5, 12, 20);
  CHECK_FALSE(fixture.broken());
  fixture.hold(3, 3, 0, 21, 40);
  CHECK(fixture.broken() == Rule::exclusion);
}

TEST_CASE("tokens_of_readers_and_writers_are_ordered") {
  const std::uint64_t token = GENERATE(1, 2);
  JudgeFixture fixture{Profile::within};
  fixture.hold(0, 2, 0, 10, 20);
  fixture.read(1, token, 20, 21, 30);
  CHECK(fixture.broken() == Rule::tokens);
}

TEST_CASE("no_other_writer_has_the_lock_while_the_writer_becomes_a_reader") {
  const bool is_between = GENERATE(true, false);
  JudgeFixture fixture{Profile::within};
  if (!is_between) fixture.judge.end(fixture.hold(1, 1, 0, 5, 30), LeaseEnd::given_back);
  fixture.judge.end(fixture.hold(0, 2, 0, 10, 30), LeaseEnd::given_back);
  if (is_between) fixture.judge.end(fixture.hold(1, 3, 11, 13, 30), LeaseEnd::given_back);
  fixture.read(0, 4, 12, 14, 40, true);
  CHECK(fixture.broken() == (is_between ? std::optional{Rule::exclusion} : std::nullopt));
}

TEST_CASE("a_fenced_store_shows_no_reader_two_versions") {
  Stores stores;
  const Stores::Seen first = stores.read_shared(5);
  CHECK(stores.read(4).refused);                                        // an earlier writer
  CHECK(stores.write(6, stores.read(6)) == Stores::Written::accepted);  // a later one
  stores.read_again(5, first);
  CHECK(stores.torn_unfenced == 1);
  CHECK(stores.torn_fenced == 0);
  const Stores::Seen next = stores.read_shared(7);
  CHECK_FALSE(stores.read_shared(6).refused);  // readers have no order among each other
  stores.read_again(7, next);
  CHECK(stores.torn_unfenced == 1);
}

TEST_CASE("a_semaphore_has_no_more_holders_than_seats_whatever_these_are_called") {
  for (const bool names_seats : {true, false}) {
    JudgeFixture fixture{Profile::within, names_seats};
    fixture.schedule.seats = 2;
    fixture.hold(0, 1, 0, 10, 20);
    fixture.hold(1, 2, 0, 11, 40, names_seats ? 1 : 0);
    fixture.hold(2, 3, 0, 20, 40, names_seats ? 0 : 1);  // the first one's lease is over
    CHECK_FALSE(fixture.broken());
    fixture.hold(3, 4, 0, 21, 40, 1);
    CHECK(fixture.broken() == Rule::seats);
  }
}

TEST_CASE("a_released_lease_allows_the_next_one") {
  JudgeFixture fixture{Profile::within};
  fixture.judge.end(fixture.hold(0, 1, 0, 10, 20), LeaseEnd::given_back);
  fixture.hold(1, 2, 11, 12, 30);
  CHECK_FALSE(fixture.broken());
}

TEST_CASE("a_lock_with_a_delay_must_not_be_had_until_the_delay_after_its_loss_is_over") {
  JudgeFixture fixture{Profile::within};
  fixture.schedule.lock_delay = std::chrono::milliseconds{1};
  const auto first = fixture.hold(0, 1, 0, 10, 20);
  const Instant over = 20 + millisecond * 49 / 50;
  SECTION("after a death") { fixture.judge.end(first, LeaseEnd::death); }
  SECTION("after its deadline") { fixture.now = 20; }
  SECTION("after a release that came too late") {
    fixture.now = 20;
    fixture.judge.end(first, LeaseEnd::given_back);
  }
  SECTION("unless it was released in time") {
    fixture.judge.end(first, LeaseEnd::given_back);
    fixture.hold(1, 2, 11, 12, 13);
    CHECK_FALSE(fixture.broken());
    return;
  }
  SECTION("unless nodes lose their data") {
    fixture.schedule.faults.push_back({.kind = Fault::Kind::flush_all, .at = 0});
    fixture.hold(1, 2, 20, 21, 30);
    CHECK_FALSE(fixture.broken());
    return;
  }
  fixture.hold(1, 2, over - 2, over - 1, over);
  CHECK(fixture.broken() == Rule::delay);
  JudgeFixture later{Profile::within};
  later.schedule.lock_delay = std::chrono::milliseconds{1};
  later.hold(0, 1, 0, 10, 20);
  later.hold(1, 2, over - 1, over, over + 1);
  CHECK_FALSE(later.broken());
}

TEST_CASE("a_lock_with_a_minimum_time_must_not_be_had_until_it_is_over") {
  JudgeFixture fixture{Profile::within};
  fixture.schedule.at_least = std::chrono::milliseconds{1};
  const Instant over = 5 + millisecond * 49 / 50;
  const auto hold = [&](Instant begun, bool adopted = false) {
    fixture.now = begun;
    const auto lease = fixture.judge.begin({.resource = 0,
                                            .client = 0,
                                            .owner = "owner",
                                            .token = ++fixture.last_token,
                                            .invoked = begun - 5,
                                            .begun = begun,
                                            .deadline = begun + 5,
                                            .at_least = fixture.schedule.at_least,
                                            .adopted = adopted},
                                           begun);
    fixture.judge.end(lease, LeaseEnd::given_back);
  };
  hold(10);
  SECTION("by anybody") {
    hold(over - 1);
    CHECK(fixture.broken() == Rule::at_least);
  }
  SECTION("until then") {
    hold(over);
    CHECK_FALSE(fixture.broken());
  }
  SECTION("but who adopts it gives a time of its own") {
    hold(20, true);
    CHECK_FALSE(fixture.broken());
    hold(over);
    CHECK(fixture.broken() == Rule::at_least);
  }
  SECTION("unless people delete it") {
    fixture.judge.deleted_by_people();
    hold(over - 1);
    CHECK_FALSE(fixture.broken());
  }
}

TEST_CASE("a_lease_returned_after_its_deadline_violates_honesty") {
  JudgeFixture fixture{Profile::within};
  fixture.hold(0, 1, 0, 10, 10);
  CHECK(fixture.broken() == Rule::honesty);
}

TEST_CASE("a_lease_without_a_majority_of_copies_violates_honesty_only_before_its_deadline") {
  JudgeFixture fixture{Profile::within};
  fixture.hold(0, 1, 0, 10, 20);
  fixture.copies = 1;
  fixture.now = 20;
  fixture.judge.audit(0, 20);
  CHECK_FALSE(fixture.broken());
  fixture.now = 19;
  fixture.judge.audit(0, 19);
  CHECK(fixture.broken() == Rule::honesty);
}

TEST_CASE("tokens_may_be_out_of_order_only_for_overlapping_acquisitions") {
  JudgeFixture overlapping{Profile::beyond};
  overlapping.hold(0, 7, 0, 10, 20);
  overlapping.hold(1, 5, 10, 12, 20);
  CHECK_FALSE(overlapping.broken());
  JudgeFixture later{Profile::beyond};
  later.hold(0, 7, 0, 10, 20);
  later.hold(1, 5, 11, 12, 20);
  CHECK(later.broken() == Rule::tokens);
  JudgeFixture twice{Profile::beyond};
  twice.hold(0, 7, 0, 10, 20);
  twice.hold(1, 7, 0, 12, 20);
  CHECK(twice.broken() == Rule::tokens);
}

TEST_CASE("tokens_are_judged_only_if_counters_are_kept") {
  JudgeFixture fixture{Profile::beyond};
  fixture.schedule.counters_kept = false;
  fixture.hold(0, 7, 0, 10, 20);
  fixture.hold(1, 7, 11, 12, 20);
  CHECK_FALSE(fixture.broken());
}

TEST_CASE("copies_restored_after_the_majority_was_lost_must_not_count_for_an_extension") {
  const std::vector<bool> votes{true, true, false};
  JudgeFixture alive{Profile::beyond};
  const auto kept = alive.hold(0, 1, 0, 10, 20);
  alive.judge.put_back("owner", 1, 2);
  alive.judge.prolong(kept, 30, votes, 15);
  CHECK_FALSE(alive.broken());
  JudgeFixture dead{Profile::beyond};
  const auto revived = dead.hold(0, 1, 0, 10, 20);
  dead.judge.put_back("owner", 1, 1);
  dead.judge.prolong(revived, 30, votes, 15);
  CHECK(dead.broken() == Rule::honesty);
}

TEST_CASE("a_loss_must_not_be_reported_while_a_majority_has_the_lock_unless_copies_come_back") {
  for (const auto kind : {Fault::Kind::pause, Fault::Kind::roll_back}) {
    JudgeFixture fixture{Profile::beyond};
    fixture.schedule.faults = {{.kind = kind, .at = 0}};
    const auto lease = fixture.hold(0, 1, 0, 10, 20);
    fixture.judge.loss_reported(lease, 15);
    CHECK(fixture.broken() == (kind == Fault::Kind::pause ? std::optional{Rule::honesty} : std::nullopt));
  }
}

TEST_CASE("a_check_must_not_call_a_lease_valid_unless_a_majority_has_had_it_meanwhile_if_not_at_one_time") {
  for (const int node : {0, 2}) {
    JudgeFixture fixture{Profile::within};
    const auto lease = fixture.hold(0, 1, 0, 10, 20);
    fixture.copies = 1;
    fixture.judge.check_begins({1, 0}, lease);
    fixture.copies = 0;
    fixture.judge.copied("owner", node);
    fixture.judge.check_ended({1, 0}, redlock::SequencerState::valid, 15);
    CHECK(fixture.broken() == (node == 0 ? std::optional{Rule::check} : std::nullopt));
  }
}

TEST_CASE("a_holder_need_not_know_of_a_copy_that_was_set_since_its_lease_began_or_was_extended") {
  const std::vector<bool> votes{true, true, false};
  for (const bool is_extended : {false, true}) {
    JudgeFixture fixture{Profile::beyond};
    const auto lease = fixture.hold(0, 1, 0, 10, 20);
    fixture.judge.copied("owner", 2);
    if (is_extended) fixture.judge.prolong(lease, 30, votes, 15);
    fixture.judge.loss_reported(lease, 16);
    CHECK(fixture.broken().has_value() == is_extended);
  }
}

TEST_CASE("a_fenced_store_refuses_a_stale_write_and_an_unfenced_store_loses_the_newer_one") {
  Stores stores;
  const Stores::Seen paused = stores.read(33);
  const Stores::Seen next = stores.read(34);
  CHECK(stores.write(34, next) == Stores::Written::accepted);
  CHECK(stores.write(33, paused) == Stores::Written::refused);
  CHECK(stores.lost_fenced == 0);
  CHECK(stores.lost_unfenced == 1);
  CHECK(stores.read(33).refused);
}

TEST_CASE("a_write_without_a_token_reaches_only_the_unfenced_store") {
  Stores stores;
  const Stores::Seen seen = stores.read(0);
  CHECK(stores.write(0, seen) == Stores::Written::refused);
  CHECK(stores.unfenced_version == 1);
}

TEST_CASE("a_holder_must_not_be_told_of_a_request_to_somebody_else") {
  for (const char* const asked : {"owner", "another owner"}) {
    JudgeFixture fixture{Profile::within};
    const auto lease = fixture.hold(0, 1, 0, 10, 20);
    fixture.judge.hears_requests(lease);
    CHECK(fixture.judge.requested(asked).has_value() == (asked == std::string_view{"owner"}));
    fixture.judge.told_of_request(lease, 15);
    CHECK(fixture.broken() ==
          (asked == std::string_view{"owner"} ? std::nullopt : std::optional{Rule::request}));
  }
}

TEST_CASE("a_holder_must_be_told_of_a_request_as_long_as_it_has_the_lock") {
  for (const bool is_told : {false, true}) {
    for (const bool is_over : {false, true}) {
      JudgeFixture fixture{Profile::within};
      const auto lease = fixture.hold(0, 1, 0, 10, 20);
      fixture.judge.hears_requests(lease);
      REQUIRE(fixture.judge.requested("owner") == lease);
      if (is_told) fixture.judge.told_of_request(lease, 12);
      if (is_told) CHECK_FALSE(fixture.judge.requested("owner"));
      if (is_over) fixture.judge.end(lease, LeaseEnd::given_back);
      fixture.judge.must_have_heard(lease, 15);
      CHECK(fixture.broken() == (is_told || is_over ? std::nullopt : std::optional{Rule::request}));
    }
  }
}

TEST_CASE("a_call_for_all_locks_returns_a_lease_in_force_of_each") {
  enum class Second { in_force, over, of_the_same_lock, missing };
  for (const Second second : {Second::in_force, Second::over, Second::of_the_same_lock, Second::missing}) {
    JudgeFixture fixture{Profile::within};
    fixture.schedule.resources = 2;
    std::vector<Judge::LeaseIndex> leases{fixture.hold(0, 1, 0, 10, 30)};
    if (second == Second::of_the_same_lock) leases.push_back(leases.front());
    if (second == Second::in_force || second == Second::over)
      leases.push_back(fixture.hold(0, 1, 0, 10, second == Second::over ? 20 : 30, 1));
    fixture.now = 25;
    fixture.judge.got_together(leases, 25);
    CHECK(fixture.broken() ==
          (second == Second::in_force ? std::nullopt : std::optional{Rule::all_or_nothing}));
  }
}

TEST_CASE("a_call_for_all_locks_that_returns_nothing_leaves_no_lock_on_a_majority") {
  for (const unsigned left : {0U, 1U, 2U}) {
    JudgeFixture fixture{Profile::within};
    fixture.copies = left;
    fixture.judge.must_have_nothing({{0, "owner"}}, 10);
    CHECK(fixture.broken() == (left < 2 ? std::nullopt : std::optional{Rule::all_or_nothing}));
  }
}

TEST_CASE("a_lock_has_a_writer_while_the_lease_of_one_is_in_force") {
  JudgeFixture fixture{Profile::within};
  fixture.read(0, 1, 0, 10, 20);
  CHECK_FALSE(fixture.judge.has_writer(0));
  fixture.hold(1, 2, 15, 20, 30);
  CHECK(fixture.judge.has_writer(0));
  CHECK_FALSE(fixture.judge.has_writer(1));
  fixture.now = 30;
  CHECK_FALSE(fixture.judge.has_writer(0));
}
