// Whether a client holds leases, and until when.
#include <chrono>
#include <memory>

#include "redlock/core/lease/extension.hpp"
#include "redlock/core/lease/held_leases.hpp"
#include "redlock/core/lease/release_operation.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "support/catch.hpp"
#include "unit/support/engine_harness.hpp"
#include "unit/support/guarded_nodes.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using namespace redlock::core;

/// A lease with a deadline this long after the start of the test, counted in `held`.
std::shared_ptr<LeaseState> counted(HeldLeases& held, Span lasts) {
  auto lease = example_lease(lasts);
  held.granted(lease->deadline());
  lease->held_leases = &held;
  return lease;
}

}  // namespace

TEST_CASE("leases_are_held_until_the_last_deadline_or_until_all_are_let_go") {
  HeldLeases held;
  CHECK(held.until() == Time::min());
  const auto longer = counted(held, 2s);
  const auto shorter = counted(held, 1s);
  CHECK(held.until() == longer->deadline());
  CHECK(let_go(longer, at(0ms)));
  CHECK(held.until() == longer->deadline());
  CHECK(let_go(shorter, at(0ms)));
  CHECK(held.until() == Time::min());
  counted(held, 500ms);
  CHECK(held.until() == example_lease(500ms)->deadline());
}

TEST_CASE("a_lease_is_let_go_once") {
  HeldLeases held;
  const auto one = counted(held, 1s);
  const auto other = counted(held, 1s);
  CHECK(let_go(one, at(0ms)));
  CHECK_FALSE(let_go(one, at(1ms)));
  CHECK(held.until() == other->deadline());
}

TEST_CASE("an_extended_lease_is_held_until_its_new_deadline") {
  HeldLeases held;
  const auto lease = counted(held, 1s);
  REQUIRE(lease->prolong(at(3s), at(0ms)));
  HeldLeases::prolonged(*lease);
  CHECK(held.until() == lease->deadline());
  let_go(lease, at(0ms));
  HeldLeases::prolonged(*lease);
  CHECK(held.until() == Time::min());
}

TEST_CASE("the_engine_counts_leases_from_their_grant_to_their_release") {
  EngineHarness nodes{3};
  CHECK(nodes.engine.held_leases() == nullptr);  // without a restart guard nobody needs to know
  EngineHarness harness{3, example_guard()};
  std::vector<MarkedServer> servers = fresh_servers();
  GuardedClient first{servers, example_guard()};
  first.connect_all(at(-24h));
  first.settle(at(-24h));
  const HeldLeases& held = *harness.engine.held_leases();

  Ref<Acquisition> attempt{new Acquisition{example_claim(), 3, Acquisition::Purpose::try_once}};
  harness.engine.submit(Ref<Operation>{attempt.get()}, at(0ms));
  for (NodeIndex node = 0; node < 3; ++node)
    harness.connect(node, at(0ms), servers[node].run_id, servers[node].look(at(0ms)));
  harness.engine.answered(0, ok(), at(1ms));
  CHECK(held.until() == Time::min());
  harness.engine.answered(1, ok(), at(1ms));
  REQUIRE(attempt->granted());
  CHECK(held.until() == attempt->valid_until());

  const auto lease = std::make_shared<LeaseState>(attempt->take_claim(), attempt->valid_until());
  lease->held_leases = harness.engine.held_leases();
  harness.engine.answered(2, ok(), at(1ms));
  harness.engine.submit(Ref<Operation>{new Extension{lease, 3}}, at(500ms));
  for (const NodeIndex node : {0U, 1U}) harness.engine.answered(node, number(1), at(501ms));
  CHECK(held.until() == lease->deadline());
  CHECK(held.until() > attempt->valid_until());
  harness.engine.submit(Ref<Operation>{new ReleaseOperation{lease, 3}}, at(510ms));
  CHECK(held.until() == Time::min());
}

TEST_CASE("a_denied_attempt_does_not_count_as_a_lease") {
  EngineHarness harness{1, example_guard(1)};
  std::vector<MarkedServer> servers = fresh_servers(1);
  GuardedClient first{servers, example_guard(1)};
  first.connect_all(at(-24h));
  first.settle(at(-24h));
  Ref<Acquisition> attempt{new Acquisition{example_claim(), 1, Acquisition::Purpose::try_once}};
  harness.engine.submit(Ref<Operation>{attempt.get()}, at(0ms));
  harness.connect(0, at(0ms), servers[0].run_id, servers[0].look(at(0ms)));
  harness.engine.answered(0, nil(), at(1ms));
  harness.engine.answered(0, string_reply("another"), at(1ms));
  CHECK_FALSE(attempt->granted());
  CHECK(harness.engine.held_leases()->until() == Time::min());
}
