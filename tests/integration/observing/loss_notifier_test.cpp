// How the threads that call users' callbacks end.
#include "notify/loss_notifier.hpp"

#include <atomic>
#include <memory>

#include "support/catch.hpp"

namespace {

using redlock::detail::LossNotifier;

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
