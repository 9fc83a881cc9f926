// All nodes restart without their data, one after the other, while an idle client holds the lock.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simulation/scenario/outcome.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;

/// A holds the lock from the beginning, for longer than all restarts take. B asks for it after the last one.
Schedule rolling_restart(int nodes) {
  Schedule schedule;
  schedule.nodes = nodes;
  schedule.ttl = std::chrono::seconds{20};
  schedule.drift = std::chrono::milliseconds{202};
  schedule.node_timeout = std::chrono::milliseconds{250};
  schedule.guarded = true;
  schedule.automatic = true;
  schedule.deployed = true;
  schedule.reads_on_demand = true;
  Instant at = second;
  for (int node = 0; node < nodes; ++node, at += 2 * second)
    schedule.faults.push_back(
        {.kind = Fault::Kind::crash_empty, .at = at, .length = 50 * millisecond, .node = node, .amount = 1});
  schedule.calls = {{.client = 0, .at = 10 * millisecond, .hold = 18 * second},
                    {.client = 1, .at = at, .hold = 20 * millisecond, .waits = true}};
  schedule.heals = at + 2 * second;
  return schedule;
}

}  // namespace

TEST_CASE("after_a_rolling_restart_the_lock_of_an_idle_holder_is_not_granted") {
  for (const int nodes : {3, 5}) {
    CAPTURE(nodes);
    const Outcome outcome = outcome_of(rolling_restart(nodes));
    CHECK_FALSE(outcome.violation);
    REQUIRE(outcome.leases.size() == 1);
    CHECK(outcome.leases[0].client == 0);
  }
}

TEST_CASE("after_a_rolling_restart_a_holder_that_does_not_look_has_to_share_the_lock") {
  for (const int nodes : {3, 5}) {
    CAPTURE(nodes);
    const Outcome outcome = outcome_of(rolling_restart(nodes), "holders-do-not-look");
    REQUIRE(outcome.violation);
    CHECK(outcome.violation->rule == Rule::exclusion);
    CHECK(outcome.leases.size() == 2);
  }
}

TEST_CASE("rolling_restarts_occur_only_in_some_guarded_schedules") {
  std::size_t guarded = 0;
  std::size_t rolling = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const Schedule schedule = draw_schedule(seed, Profile::within);
    guarded += schedule.guarded ? 1 : 0;
    if (!schedule.reads_on_demand) continue;
    CHECK(schedule.guarded);
    CHECK(schedule.automatic);
    CHECK(schedule.faults.size() == static_cast<std::size_t>(schedule.nodes));
    ++rolling;
  }
  CHECK(rolling > guarded / 30);
  CHECK(rolling < guarded / 8);
}
