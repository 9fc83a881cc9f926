// When and how often the loss of a lease is reported.
#include "redlock/core/lease/loss_queue.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::testing;
using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Loss;

}  // namespace

TEST_CASE("a_loss_is_reported_once_at_the_deadline") {
  LossQueue<LeaseState> loss_queue;
  CHECK(loss_queue.timer() == never);
  const auto lease = example_lease(500ms);
  loss_queue.add(lease);
  CHECK(loss_queue.timer() == at(500ms));
  CHECK_FALSE(loss_queue.take_lost(at(500ms) - 1ns));
  CHECK(loss_queue.take_lost(at(500ms)) == lease);
  CHECK_FALSE(loss_queue.take_lost(at(500ms)));
  CHECK(loss_queue.timer() == never);
}

TEST_CASE("an_early_loss_is_reported_at_once") {
  LossQueue<LeaseState> loss_queue;
  const auto lease = example_lease(500ms);
  loss_queue.add(lease);
  lease->lose(Loss::taken, at(10ms));
  loss_queue.lost(lease);
  CHECK(loss_queue.timer() <= at(10ms));
  CHECK(loss_queue.take_lost(at(10ms)) == lease);
  loss_queue.lost(lease);
  CHECK_FALSE(loss_queue.take_lost(at(600ms)));
}

// Not in the order of their addresses, so that a history can be repeated.
TEST_CASE("losses_of_the_same_time_are_reported_in_the_order_of_the_owner_values") {
  std::vector<std::shared_ptr<LeaseState>> leases;
  for (const char* const owner : {"c", "a", "e", "b", "d"}) {
    Claim claim = example_claim();
    claim.owner = owner;
    leases.push_back(std::make_shared<LeaseState>(std::move(claim), at(500ms)));
  }
  LossQueue<LeaseState> loss_queue;
  for (const auto& lease : leases) loss_queue.add(lease);
  std::string order;
  while (const auto lost = loss_queue.take_lost(at(500ms))) order += lost->claim.owner;
  CHECK(order == "abcde");
}

TEST_CASE("a_moved_deadline_is_checked_again") {
  LossQueue<LeaseState> loss_queue;
  const auto lease = example_lease(500ms);
  loss_queue.add(lease);
  REQUIRE(lease->prolong(at(900ms), at(400ms)));
  CHECK_FALSE(loss_queue.take_lost(at(500ms)));
  CHECK(loss_queue.timer() == at(900ms));
  CHECK(loss_queue.take_lost(at(900ms)) == lease);
}

TEST_CASE("the_notifier_wakes_up_several_times_before_a_deadline") {
  LossQueue<LeaseState> loss_queue;
  CHECK(loss_queue.wake_up(at(0ms)) == never);
  const auto lease = example_lease(500ms);
  loss_queue.add(lease);
  std::vector<Time> looks;
  for (Time now = at(0ms); looks.size() < 100 && !loss_queue.take_lost(now); now = looks.back())
    looks.push_back(loss_queue.wake_up(now));
  CHECK(looks.size() == 11);
  CHECK(looks.front() == at(480ms));
  CHECK(looks.back() == at(500ms));
  CHECK(loss_queue.wake_up(at(500ms)) == never);
}

TEST_CASE("a_late_wake_up_is_followed_by_one_at_the_deadline") {
  LossQueue<LeaseState> loss_queue;
  loss_queue.add(example_lease(500ms));
  CHECK(loss_queue.wake_up(at(499ms)) == at(500ms));
  CHECK(loss_queue.wake_up(at(600ms)) <= at(600ms));
  CHECK(loss_queue.take_lost(at(600ms)));
}

TEST_CASE("a_moved_deadline_causes_at_most_one_wake_up_for_the_old_one") {
  LossQueue<LeaseState> loss_queue;
  const auto lease = example_lease(500ms);
  loss_queue.add(lease);
  REQUIRE(lease->prolong(at(900ms), at(400ms)));
  CHECK(loss_queue.wake_up(at(400ms)) == at(480ms));
  CHECK(loss_queue.wake_up(at(480ms)) == at(880ms));
  lease->lose(Loss::taken, at(490ms));
  loss_queue.lost(lease);
  CHECK(loss_queue.wake_up(at(490ms)) <= at(490ms));
}

TEST_CASE("a_released_or_removed_lease_is_never_reported") {
  LossQueue<LeaseState> loss_queue;
  const auto released = example_lease(500ms);
  const auto removed = example_lease(600ms);
  loss_queue.add(released);
  loss_queue.add(removed);
  REQUIRE(released->release(at(10ms)));
  loss_queue.remove(removed);
  CHECK_FALSE(loss_queue.take_lost(at(1000ms)));
  CHECK(loss_queue.timer() == never);
}

TEST_CASE("a_lease_that_is_added_twice_is_reported_once") {
  LossQueue<LeaseState> loss_queue;
  const auto lease = example_lease(500ms);
  loss_queue.add(lease);
  loss_queue.add(lease);
  CHECK(loss_queue.take_lost(at(500ms)) == lease);
  CHECK_FALSE(loss_queue.take_lost(at(500ms)));
}

TEST_CASE("losses_are_reported_in_the_order_of_their_deadlines") {
  LossQueue<LeaseState> loss_queue;
  const auto later_one = example_lease(500ms);
  const auto sooner = example_lease(400ms);
  loss_queue.add(later_one);
  loss_queue.add(sooner);
  CHECK(loss_queue.timer() == at(400ms));
  CHECK(loss_queue.take_lost(at(600ms)) == sooner);
  CHECK(loss_queue.take_lost(at(600ms)) == later_one);
}
