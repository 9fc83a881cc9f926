// When leases are renewed, and when renewal ends.
#include "redlock/core/lease/renewals.hpp"

#include <chrono>
#include <memory>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lease/release_operation.hpp"
#include "support/catch.hpp"
#include "unit/support/engine_harness.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Loss;
using redlock::State;

std::shared_ptr<LeaseState> lease_of(std::chrono::milliseconds ttl, Time ends_at = never) {
  Claim claim = example_claim();
  claim.ttl = ttl;
  return std::make_shared<LeaseState>(std::move(claim), at(ttl - 12ms), ends_at);
}

using Taken = std::pair<Time, std::shared_ptr<LeaseState>>;
/// The leases that are to be extended now, and when they were due.
std::vector<Taken> taken_from(Renewals& renewals, Time now) {
  std::vector<Taken> taken;
  renewals.extend_due(now, [&](Time due, const auto& lease) { taken.emplace_back(due, lease); });
  return taken;
}

/// The commands that wait to be sent to a node.
std::string sent_to(EngineHarness& harness, NodeIndex node) { return harness.take_bytes(node); }

/// Advances the time to `now`; all nodes answer their commands with this number.
void renew(EngineHarness& harness, Time now, std::int64_t answer) {
  harness.engine.on_time(now);
  for (NodeIndex node = 0; node < harness.engine.nodes(); ++node) {
    if (sent_to(harness, node).empty()) continue;
    harness.engine.answered(node, number(answer), now);
  }
}

}  // namespace

TEST_CASE("a_lease_is_renewed_after_a_third_of_its_ttl_or_slightly_earlier") {
  std::set<Time> moments;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Renewals renewals{seed};
    const auto lease = lease_of(30s);
    renewals.add(lease, at(0ms));
    CHECK(renewals.timer() <= at(10s));
    CHECK(renewals.timer() >= at(8900ms));
    moments.insert(renewals.timer());
    CHECK(taken_from(renewals, renewals.timer() - 1ns).empty());
    const Time due = renewals.timer();
    CHECK(taken_from(renewals, due) == std::vector{Taken{due, lease}});
    CHECK(renewals.timer() == never);
  }
  CHECK(moments.size() > 5);
}

TEST_CASE("many_leases_share_a_few_renewal_times") {
  Renewals renewals{1};
  std::vector<std::shared_ptr<LeaseState>> held;
  for (int i = 0; i < 1000; ++i) {
    held.push_back(lease_of(30s));
    renewals.add(held.back(), at(i * 1ms));
  }
  std::set<Time> moments;
  for (const auto& lease : held) moments.insert(lease->renewal_due);
  CHECK(moments.size() <= 25);
}

TEST_CASE("short_leases_are_renewed_in_time") {
  Renewals renewals{1};
  const auto lease = lease_of(20ms);
  renewals.add(lease, at(0ms));
  CHECK(renewals.timer() < at(8ms));
}

TEST_CASE("a_renewal_moves_the_deadline_and_schedules_the_next_renewal") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const auto lease = lease_of(3000ms);
  harness.engine.keep(lease, at(0ms));
  Time now = at(0ms);
  for (int round = 0; round < 20; ++round) {
    const Time due = harness.engine.background_timer();
    CHECK(due > now);
    CHECK(due <= now + 1000ms);
    now = due;
    renew(harness, now, 1);
    CHECK(lease->deadline() >= now + 2970ms - 16ns);
    CHECK(lease->state(now) == State::held);
  }
  CHECK(harness.engine.active() == 0);
}

TEST_CASE("a_failed_renewal_is_retried_soon_and_the_lease_is_released_at_its_deadline") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const auto lease = lease_of(3000ms);
  harness.engine.keep(lease, at(0ms));
  int tries = 0;
  Time now = at(0ms);
  while (lease->in_force(now)) {
    now = harness.engine.background_timer();
    harness.engine.on_time(now);
    for (NodeIndex node = 0; node < 3; ++node) {
      const std::string sent = sent_to(harness, node);
      CHECK(sent == (now < at(2988ms) ? lease->claim.extend_command() : lease->claim.release_command()));
      harness.engine.answered(node, text_reply(Reply::Kind::error, "ERR not now"), now);
    }
    ++tries;
    if (now < at(2988ms)) CHECK(lease->state(now) == State::in_doubt);
  }
  CHECK(now == at(2988ms));
  CHECK(tries > 10);
  CHECK(lease->loss(now) == Loss::no_quorum);
  CHECK(harness.engine.background_timer() == never);
}

TEST_CASE("a_lost_lease_is_no_longer_renewed") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const auto lease = lease_of(3000ms);
  harness.engine.keep(lease, at(0ms));
  renew(harness, harness.engine.background_timer(), 0);
  CHECK(lease->loss(at(1000ms)) == Loss::deleted);
  CHECK(harness.engine.background_timer() == never);
  CHECK(lease->renewals == nullptr);
}

TEST_CASE("another_owners_value_on_a_majority_is_reported_as_taken") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const auto lease = lease_of(3000ms);
  harness.engine.keep(lease, at(0ms));
  renew(harness, harness.engine.background_timer(), -1);
  CHECK(lease->loss(at(1000ms)) == Loss::taken);
}

TEST_CASE("nothing_is_renewed_once_a_release_is_submitted") {
  EngineHarness harness{3};
  harness.make_ready(at(0ms));
  const auto lease = lease_of(3000ms);
  harness.engine.keep(lease, at(0ms));
  const Time due = harness.engine.background_timer();
  const bool is_under_way = GENERATE(false, true);
  if (is_under_way) harness.engine.on_time(due);
  for (NodeIndex node = 0; node < 3; ++node) CHECK(sent_to(harness, node).empty() != is_under_way);
  const Ref<Operation> release_operation{new ReleaseOperation{lease, 3}};
  harness.engine.submit(release_operation, due);
  for (NodeIndex node = 0; node < 3; ++node) CHECK(sent_to(harness, node) == lease->claim.release_command());
  CHECK(harness.engine.background_timer() == never);
  // Late replies to the renewal change nothing and send nothing.
  if (is_under_way)
    for (NodeIndex node = 0; node < 3; ++node) harness.engine.answered(node, number(0), due + 1ms);
  for (NodeIndex node = 0; node < 3; ++node) CHECK(sent_to(harness, node).empty());
  CHECK(lease->state(due + 1ms) == State::released);
  harness.engine.on_time(at(1h));
  for (NodeIndex node = 0; node < 3; ++node) CHECK(sent_to(harness, node).empty());
}

TEST_CASE("a_lease_with_a_latest_end_is_renewed_until_then_and_then_released") {
  EngineHarness harness{1};
  harness.make_ready(at(0ms));
  const auto lease = lease_of(3000ms, at(5000ms));
  harness.engine.keep(lease, at(0ms));
  int renewed = 0;
  Time now{};
  while (now < at(4999ms)) {
    now = harness.engine.background_timer();
    REQUIRE(now <= at(5000ms));
    harness.engine.on_time(now);
    const std::string sent = sent_to(harness, 0);
    if (now < at(5000ms)) {
      ++renewed;
      CHECK(sent == lease->claim.extend_command());
      harness.engine.answered(0, number(1), now);
    } else {
      CHECK(sent == lease->claim.release_command());
    }
  }
  CHECK(renewed >= 3);
  CHECK(lease->loss(now) == Loss::max_hold);
  CHECK(harness.engine.background_timer() == never);
}

TEST_CASE("a_manual_extension_postpones_the_renewal") {
  EngineHarness harness{1};
  harness.make_ready(at(0ms));
  const auto lease = lease_of(3000ms);
  harness.engine.keep(lease, at(0ms));
  harness.engine.submit(Ref<Operation>{new Extension{lease, 1}}, at(900ms));
  harness.engine.answered(0, number(1), at(901ms));
  CHECK(harness.engine.background_timer() > at(1700ms));
  CHECK(harness.engine.background_timer() <= at(1901ms));
}

TEST_CASE("overlapping_extensions_do_not_make_a_copy_count_too_early") {
  RecordingOutbox outbox{3};
  const auto lease = example_lease(500ms);
  Extension older{lease, 3};
  older.start(at(0ms), outbox);
  Extension newer{lease, 3};
  newer.start(at(1ms), outbox);
  // Node 0 lost its copy and got it back; the newer extension sees it first.
  lease->copies.missing(0);
  newer.answered(0, 0, number(1), at(2ms), outbox);
  CHECK_FALSE(lease->copies.counts(0));
  for (const NodeIndex node : {1U, 2U}) older.answered(node, 0, number(1), at(3ms), outbox);
  REQUIRE(older.outcome() == Extension::Outcome::extended);
  CHECK_FALSE(lease->copies.counts(0));
  for (const NodeIndex node : {1U, 2U}) newer.answered(node, 0, number(1), at(3ms), outbox);
  REQUIRE(newer.outcome() == Extension::Outcome::extended);
  CHECK_FALSE(lease->copies.counts(0));
}

TEST_CASE("leases_that_no_memory_was_left_to_extend_are_due_again") {
  Renewals renewals{1};
  std::vector<std::shared_ptr<LeaseState>> held;
  for (int i = 0; i < 4; ++i) {
    held.push_back(lease_of(3000ms));
    renewals.add(held.back(), at(0ms));
  }
  std::vector<std::shared_ptr<LeaseState>> extended;
  const auto extend = [&](Time, const std::shared_ptr<LeaseState>& lease) {
    if (extended.size() == 1) throw std::bad_alloc{};
    extended.push_back(lease);
    Renewals::stop(held.back());  // it is released meanwhile
  };
  CHECK_THROWS_AS(renewals.extend_due(at(1000ms), extend), std::bad_alloc);
  REQUIRE(extended.size() == 1);
  CHECK(renewals.timer() <= at(1000ms));
  std::set<std::shared_ptr<LeaseState>> rest;
  for (const Taken& taken : taken_from(renewals, at(1000ms))) rest.insert(taken.second);
  std::set<std::shared_ptr<LeaseState>> expected{held.begin(), held.end() - 1};
  expected.erase(extended.front());
  CHECK(rest == expected);
  CHECK(renewals.timer() == never);
}

TEST_CASE("thousands_of_due_renewals_are_sent_in_batches") {
  Renewals renewals{1};
  std::vector<std::shared_ptr<LeaseState>> held;
  for (int i = 0; i < 2000; ++i) {
    held.push_back(lease_of(3000ms));
    renewals.add(held.back(), at(0ms));
  }
  std::size_t taken = 0;
  while (renewals.timer() <= at(1000ms)) {
    const auto batch = taken_from(renewals, at(1000ms));
    REQUIRE(!batch.empty());
    CHECK(batch.size() <= 512);
    taken += batch.size();
  }
  CHECK(taken == 2000);
}
