// What keeps others from a lock whose lease was lost before its deadline.
#include <chrono>

#include "integration/support/all_nodes.hpp"
#include "integration/support/loss_recorder.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Duration;
using redlock::Lease;
using redlock::LockResult;
using redlock::Loss;
using redlock::Redlock;

/// A lease on two of three nodes, of which one has lost its data since. So it is lost, and one copy is left.
struct LostLease {
  explicit LostLease(Duration ttl, bool is_watched = true)
      : nodes{3}, locks{endpoints(nodes), {.max_ttl = 30s}} {
    reach_all(locks, servers);
    servers[2].command({"SET", "r", "somebody else's"});
    redlock::LockOptions options{.ttl = ttl, .renewal = redlock::Renewal::none};
    if (is_watched) options.on_lost = recorder.callback();
    lease = locks.lock("r", options).value();
    REQUIRE(servers.holding("r", lease.owner_value()) == 2);
    servers[2].del("r");
    nodes.restart_empty(1);
  }

  LocalNodes nodes;
  Observers servers{nodes};
  LossRecorder recorder;
  Redlock locks;
  Lease lease;
};

/// Precondition: the holder has just been told.
void nobody_gets_it_before_the_deadline(const LostLease& lost) {
  const bool is_told_in_time = Clock::now() < lost.lease.deadline();
  CHECK(is_told_in_time);
  Redlock others{endpoints(lost.nodes), {.max_ttl = 30s}};
  const LockResult next = others.try_lock_for("r", 60s, {.ttl = 1s});
  CHECK(is_granted(next));
  CHECK(Clock::now() >= lost.lease.deadline());
}

}  // namespace

TEST_CASE("nobody_gets_a_lock_before_the_deadline_of_a_holder_who_was_told_early_that_it_is_lost") {
  LostLease lost{10s};
  REQUIRE(eventually([&] { return lost.recorder.losses().size() == 1; }));
  CHECK(lost.lease.loss() == Loss::deleted);
  nobody_gets_it_before_the_deadline(lost);
}

TEST_CASE("nobody_gets_a_lock_before_the_deadline_of_a_holder_whose_extension_failed_early") {
  LostLease lost{10s, false};
  REQUIRE(eventually([&] { return !lost.lease.extend() && !lost.lease.valid(); }));
  nobody_gets_it_before_the_deadline(lost);
}

TEST_CASE("a_holder_who_releases_a_lock_that_was_lost_early_leaves_it_to_others_at_once") {
  LostLease lost{20s};
  REQUIRE(eventually([&] { return lost.recorder.losses().size() == 1; }));
  CHECK(lost.lease.release() == redlock::Release::already_lost);
  Redlock others{endpoints(lost.nodes), {.max_ttl = 30s}};
  const LockResult next = others.try_lock_for("r", 60s, {.ttl = 1s});
  CHECK(is_granted(next));
  CHECK(Clock::now() < lost.lease.deadline());
}
