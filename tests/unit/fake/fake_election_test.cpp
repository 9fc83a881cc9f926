// Elections on nodes in memory.
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "redlock/kinds/election.hpp"
#include "redlock/testing/fake_locks.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;
using redlock::Election;
using redlock::Leader;
using redlock::Lease;
using redlock::Observation;
using redlock::testing::FakeLocks;
using redlock::testing::FakeNodeState;

namespace {

using Seen = std::vector<std::optional<Leader>>;

Observation record(Election& election, Seen& seen) {
  return election.observe([&seen](const std::optional<Leader>& leader) { seen.push_back(leader); });
}

}  // namespace

TEST_CASE("an_observer_of_fake_locks_is_told_of_each_leader") {
  FakeLocks locks;
  Election election{locks, "cron", "a", {.ttl = 10s}};
  Seen seen;
  const Observation observation = record(election, seen);
  CHECK(seen == Seen{std::nullopt});
  Lease lease = election.try_campaign().value();
  locks.advance(1ms);
  CHECK(seen == Seen{std::nullopt, Leader{"a", lease.fencing_token()}});
  CHECK(election.leader() == seen.back());
  lease.release();
  locks.advance(1ms);
  CHECK(seen.back() == std::nullopt);
  locks.take("cron", 10s);
  locks.advance(1ms);
  CHECK(seen.size() == 4);
  CHECK(seen.back().has_value());
  locks.advance(11s);
  CHECK(seen.size() == 5);
  CHECK(seen.back() == std::nullopt);
}

TEST_CASE("an_observer_of_fake_locks_is_told_nothing_by_a_minority") {
  FakeLocks locks;
  Election election{locks, "cron", "a", {.ttl = 10s}};
  Seen seen;
  const Observation observation = record(election, seen);
  const Lease lease = election.try_campaign().value();
  locks.advance(1ms);
  for (const int node : {0, 1, 2}) locks.set_node(node, FakeNodeState::hanging);
  locks.advance(1min);
  CHECK(seen == Seen{std::nullopt, Leader{"a", lease.fencing_token()}});
  for (const int node : {0, 1, 2}) locks.set_node(node, FakeNodeState::working);
  locks.advance(1min);
  CHECK(seen.back() == std::nullopt);
}

TEST_CASE("an_observation_of_fake_locks_may_end_in_its_callback") {
  FakeLocks locks;
  Election election{locks, "cron", "a"};
  int calls = 0;
  std::optional<Observation> observation;
  observation.emplace(election.observe([&](const std::optional<Leader>&) {
    ++calls;
    observation.reset();
  }));
  const Lease lease = election.try_campaign().value();
  locks.advance(1min);
  CHECK(calls <= 2);  // the first call may come before the observation is stored
  CHECK_FALSE(observation);
}
