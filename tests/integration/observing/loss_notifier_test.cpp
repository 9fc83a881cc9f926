// The threads that call users' callbacks.
#include "notify/loss_notifier.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "notify/lease_record.hpp"
#include "redlock/clock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

namespace {

using redlock::Clock;
using redlock::Loss;
using redlock::detail::LeaseRecord;
using redlock::detail::LossNotifier;
using namespace std::chrono_literals;

/// A lease of an hour, or one that is over.
std::shared_ptr<LeaseRecord> lease_that(bool is_over, std::atomic<int>& losses, LossNotifier& notifier) {
  redlock::core::Claim claim;
  claim.key = "r";
  const auto now = Clock::now();
  return std::make_shared<LeaseRecord>(
      "r", std::move(claim), now, is_over ? now - 1s : now + 1h, redlock::core::never,
      [&losses](Loss) { ++losses; }, notifier, nullptr);
}

TEST_CASE("a_notifier_reports_the_losses_of_the_leases_of_a_call_unless_one_of_them_is_over") {
  for (const bool is_one_over : {false, true}) {
    LossNotifier notifier{nullptr};
    std::atomic<int> losses = 0;
    const std::array leases{lease_that(false, losses, notifier), lease_that(is_one_over, losses, notifier)};
    CHECK(notifier.add(leases) == !is_one_over);
    for (const auto& lease : leases) {
      CHECK(lease->is_in_loss_notifier == !is_one_over);
      lease->lose(Loss::taken, Clock::now());
    }
    if (!is_one_over) CHECK(redlock::testing::eventually([&] { return losses == 2; }));
    for (const auto& lease : leases) notifier.forget(lease);
    CHECK(losses == (is_one_over ? 0 : 2));
  }
}

TEST_CASE("a_notifier_that_is_destroyed_makes_no_call_afterwards_and_leaves_no_thread") {
  std::atomic<int> late_calls = 0;
  for (int i = 0; i < 200; ++i) {
    std::atomic<bool> is_destroyed = false;
    const auto call = [&] { late_calls += is_destroyed ? 1 : 0; };
    auto notifier = std::make_unique<LossNotifier>(nullptr);
    REQUIRE(notifier->call_soon(call));
    REQUIRE(notifier->call_soon(call));
    notifier.reset();
    is_destroyed = true;
  }
  CHECK(late_calls == 0);
}

}  // namespace
