// A node is a replica of another one for a moment. It then has that one's data, and its connections have not ended.
#include <chrono>
#include <string_view>

#include "simulation/scenario/outcome.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;

/// A has the lock on nodes 2 and 3. Node 3 becomes a replica of node 1 and forgets it. B, which was connected before, asks.
Schedule replica_for_a_moment() {
  Schedule schedule;
  schedule.nodes = 3;
  schedule.guarded = true;
  schedule.deployed = true;
  schedule.calls = {{.client = 1, .at = 10 * millisecond, .hold = millisecond},
                    {.client = 0, .at = 30 * millisecond, .hold = 80 * millisecond},
                    {.client = 1, .at = 70 * millisecond, .hold = 10 * millisecond}};
  schedule.faults = {
      {.kind = Fault::Kind::partition,
       .at = 20 * millisecond,
       .length = 100 * millisecond,
       .client = 0,
       .node = 0},
      {.kind = Fault::Kind::replica, .at = 50 * millisecond, .length = 10 * millisecond, .node = 2}};
  return schedule;
}

}  // namespace

TEST_CASE("a_connected_node_with_the_data_of_another_one_does_not_vote") {
  const Outcome outcome = outcome_of(replica_for_a_moment());
  CHECK_FALSE(outcome.violation);
  CHECK(outcome.leases.size() == 2);  // B does not get it the second time
}

TEST_CASE("a_client_that_takes_the_marker_of_any_node_has_to_share_the_lock_after_a_replica_was_promoted") {
  const Outcome outcome = outcome_of(replica_for_a_moment(), "any-nodes-marker-counts");
  REQUIRE(outcome.violation);
  CHECK(outcome.violation->rule == Rule::exclusion);
}
