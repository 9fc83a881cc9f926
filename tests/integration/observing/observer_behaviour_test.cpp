// What an observer may do without affecting the client.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/metrics/observer.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/one_shot_event.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Lease;
using redlock::Loss;
using redlock::Observer;
using redlock::Options;
using redlock::Redlock;
using redlock::State;

/// Calls a function for every attempt.
class CallingObserver final : public Observer {
 public:
  std::function<void()> call;
  void attempted(const Attempt&) override { call(); }
};

}  // namespace

TEST_CASE("a_blocking_observer_delays_nothing_else") {
  LocalNodes nodes{3};
  OneShotEvent event;
  const auto observer = std::make_shared<CallingObserver>();
  observer->call = [&] { event.wait(); };
  std::atomic<bool> lost = false;
  Redlock locks{endpoints(nodes), {.observer = observer}};
  const SetAtEnd released{event};
  const Lease renewed = locks.lock("renewed", {.ttl = 2s}).value();
  const Lease lease =
      locks
          .lock("short",
                {.ttl = 500ms, .renewal = redlock::Renewal::none, .on_lost = [&](Loss) { lost = true; }})
          .value();
  for (int i = 0; i < 100; ++i) REQUIRE(is_granted(locks.try_lock("r " + std::to_string(i))));
  REQUIRE(eventually([&] { return lost.load(); }));
  std::this_thread::sleep_for(3s);  // longer than the ttl of the renewed lease
  CHECK(renewed.state() == State::held);
}

TEST_CASE("a_throwing_observer_is_reported_to_on_warning_and_does_no_harm") {
  LocalNodes nodes{3};
  std::mutex mutex;
  std::vector<std::string> warnings;
  {
    const auto observer = std::make_shared<CallingObserver>();
    observer->call = [] { throw std::runtime_error{"oh no"}; };
    Redlock locks{endpoints(nodes),
                  {.on_warning =
                       [&](std::string_view warning) {
                         const std::lock_guard lock{mutex};
                         warnings.emplace_back(warning);
                       },
                   .observer = observer}};
    for (int i = 0; i < 5; ++i) REQUIRE(is_granted(locks.try_lock("r")));
  }
  CHECK(warnings ==
        std::vector<std::string>{"the observer threw: oh no (further exceptions are not reported)"});
}

TEST_CASE("an_observer_may_use_the_client") {
  LocalNodes nodes{3};
  const auto observer = std::make_shared<CallingObserver>();
  std::optional<Redlock> locks;
  std::atomic<int> calls = 0;
  std::atomic<int> got = 0;
  observer->call = [&] {
    if (calls++ == 0) got += is_granted(locks->try_lock("by the observer")) ? 1 : 0;
  };
  locks.emplace(endpoints(nodes), Options{.observer = observer});
  REQUIRE(is_granted(locks->try_lock("r")));
  REQUIRE(eventually([&] { return calls == 2; }));
  CHECK(got == 1);
}

TEST_CASE("an_observer_may_destroy_the_lease_and_the_client") {
  LocalNodes nodes{3};
  for (int round = 0; round < 20; ++round) {
    std::mutex mutex;
    std::optional<Redlock> locks;
    Lease lease;
    std::atomic<bool> ended = false;
    const auto observer = std::make_shared<CallingObserver>();
    observer->call = [&] {
      const std::lock_guard lock{mutex};
      lease = {};
      locks.reset();
      ended = true;
    };
    {
      const std::lock_guard lock{mutex};
      locks.emplace(endpoints(nodes), Options{.observer = observer});
      lease = locks
                  ->try_lock(
                      "r", {.ttl = 20s,
                            .renewal = round % 2 == 0 ? redlock::Renewal::automatic : redlock::Renewal::none})
                  .value();
    }
    REQUIRE(eventually([&] { return ended.load(); }));
    const std::lock_guard lock{mutex};  // waits for the end of the call
  }
}
