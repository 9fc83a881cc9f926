// All nodes restart at once and have forgotten what they granted. The restart guard must prevent a second grant.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simulation/scenario/outcome.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;

Schedule guarded_world() {
  Schedule schedule;
  schedule.ttl = std::chrono::milliseconds{300};
  schedule.node_timeout = std::chrono::milliseconds{30};
  schedule.guarded = true;
  schedule.deployed = true;
  return schedule;
}

/// A holds the lock when the power fails. B asks for it soon after.
Schedule power_failure() {
  Schedule schedule = guarded_world();
  schedule.connects_at_once = true;
  schedule.calls = {{.client = 0, .at = 10 * millisecond, .hold = 250 * millisecond},
                    {.client = 1, .at = 100 * millisecond, .hold = 20 * millisecond, .waits = true}};
  for (int node = 0; node < schedule.nodes; ++node)
    schedule.faults.push_back({.kind = Fault::Kind::crash_old,
                               .at = 50 * millisecond,
                               .length = millisecond,
                               .node = node,
                               .amount = 45 * millisecond});
  return schedule;
}

}  // namespace

TEST_CASE("nodes_marked_before_the_start_grant_at_once") {
  Schedule schedule = guarded_world();
  const Outcome old = outcome_of(schedule);
  schedule.deployed = false;
  const Outcome begun = outcome_of(schedule);
  REQUIRE(!old.leases.empty());
  REQUIRE(!begun.leases.empty());
  CHECK(old.leases.front().begun < 100 * millisecond);
  CHECK(begun.leases.front().begun > 500 * millisecond);
}

TEST_CASE("after_a_power_failure_a_lock_that_may_be_held_is_not_granted") {
  const Outcome outcome = outcome_of(power_failure());
  CHECK_FALSE(outcome.violation);
  REQUIRE(outcome.leases.size() == 2);
  CHECK(outcome.leases[0].begun < 50 * millisecond);
  CHECK(outcome.leases[1].begun > 350 * millisecond);
}

TEST_CASE("after_a_power_failure_ignoring_the_run_id_or_the_quarantine_yields_two_holders") {
  for (const std::string_view mistake : {"marker-without-run-id", "quarantine-ends-early"}) {
    INFO(mistake);
    const Outcome outcome = outcome_of(power_failure(), mistake);
    REQUIRE(outcome.violation);
    CHECK(outcome.violation->rule == Rule::exclusion);
  }
}

TEST_CASE("power_failures_occur_only_in_some_guarded_schedules") {
  std::size_t guarded = 0;
  std::size_t failing = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Schedule schedule = draw_schedule(seed, Profile::within);
    guarded += schedule.guarded && !schedule.faults.empty() ? 1 : 0;
    int together = 0;  // restarts at the same time
    for (std::size_t at = 1; at < schedule.faults.size(); ++at) {
      const Fault& fault = schedule.faults[at];
      const bool cripples = schedule.is_about_lines && fault.kind == Fault::Kind::partition;
      together += !cripples && fault.at == schedule.faults[at - 1].at ? 1 : 0;
    }
    if (together < schedule.nodes - 1) continue;
    CHECK(schedule.guarded);
    ++failing;
  }
  CHECK(failing > guarded / 4);
  CHECK(failing < guarded / 2);
}
