#include "redlock/core/restart_guard/known_limits.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::core;
using std::chrono::milliseconds;

const std::string deployment = "0123456789abcdef";

ExpectedMarker expected(std::size_t nodes) { return {.nodes = nodes, .deployment = deployment}; }

/// A node that was read, with a marker that names these limits.
GuardedNode node_with(milliseconds max_ttl, milliseconds ceiling, std::size_t nodes, bool is_intact = true) {
  GuardedNode node;
  node.standing = GuardedNode::Standing::admitted;
  node.run_id = "run";
  node.marker = Marker{deployment, nodes, {max_ttl, ceiling}, deployment, is_intact ? "run" : "earlier run"};
  return node;
}

GuardedNode node_away() { return {}; }

}  // namespace

TEST_CASE("nothing_is_known_of_nodes_that_are_away_and_any_ttl_may_be_tried") {
  const KnownLimits known = limits_of({node_away(), node_away(), node_away()}, expected(3), {});
  CHECK(known.confirmed == TtlLimits{});
  CHECK(known.in_reach == TtlLimits{});
  CHECK(known.allow(1h));
}

TEST_CASE("max_ttl_is_what_a_majority_of_all_nodes_says") {
  const KnownLimits one = limits_of({node_with(60s, 60s, 3), node_away(), node_away()}, expected(3), {});
  CHECK(one.allow(1h));  // one node cannot grant it
  const KnownLimits two =
      limits_of({node_with(60s, 300s, 3), node_with(300s, 300s, 3), node_away()}, expected(3), {});
  CHECK(two.confirmed == TtlLimits{60s, 300s});
  CHECK(two.allow(60s));
  CHECK_FALSE(two.allow(60s + 1ms));
  const KnownLimits three = limits_of(
      {node_with(60s, 300s, 3), node_with(300s, 300s, 3), node_with(300s, 300s, 3)}, expected(3), {});
  CHECK(three.allow(300s));
}

TEST_CASE("confirmed_limits_stay_when_fewer_nodes_are_in_reach") {
  const std::vector<GuardedNode> all{node_with(300s, 300s, 3), node_with(300s, 300s, 3), node_away()};
  const KnownLimits before = limits_of(all, expected(3), {});
  const KnownLimits after =
      limits_of({node_away(), node_away(), node_with(60s, 60s, 3)}, expected(3), before);
  CHECK(after.allow(300s));
  CHECK(after.in_reach == TtlLimits{300s, 300s});
}

TEST_CASE("one_node_with_false_limits_has_no_effect_beside_three_others") {
  for (const milliseconds false_limit : {milliseconds{10}, milliseconds{24h}}) {
    CAPTURE(false_limit.count());
    const KnownLimits known = limits_of({node_with(false_limit, false_limit, 5), node_with(60s, 60s, 5),
                                         node_with(60s, 60s, 5), node_with(60s, 60s, 5), node_away()},
                                        expected(5), {});
    CHECK(known.in_reach == TtlLimits{60s, 60s});
  }
}

TEST_CASE("of_two_markers_the_smaller_max_ttl_and_the_greater_ceiling_count") {
  const KnownLimits known =
      limits_of({node_with(60s, 300s, 5), node_with(300s, 600s, 5), node_away(), node_away(), node_away()},
                expected(5), {});
  CHECK(known.in_reach == TtlLimits{60s, 600s});
}

TEST_CASE("markers_of_earlier_runs_count_only_if_none_is_intact") {
  const GuardedNode old = node_with(60s, 60s, 3, false);
  CHECK(limits_of({old, old, node_with(300s, 300s, 3)}, expected(3), {}).in_reach.ceiling == 300s);
  const KnownLimits known = limits_of({old, old, old}, expected(3), {});
  CHECK(known.in_reach.ceiling == 60s);
  CHECK(known.confirmed == TtlLimits{});
}

TEST_CASE("markers_of_other_deployments_do_not_count") {
  GuardedNode other = node_with(300s, 300s, 3);
  other.marker->deployment = "fedcba9876543210";
  CHECK(limits_of({other, other, node_with(60s, 60s, 3)}, expected(3), {}).in_reach.ceiling == 60s);
}
