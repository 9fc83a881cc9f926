// Many contenders for one lock.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/exclusion_checker.hpp"
#include "integration/support/observers.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/recording_observer.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

namespace {

/// Runs `each(number)` on this many threads, which start at the same time.
template <class Each>
void together(int threads, Each each) {
  std::latch start{threads};
  std::vector<std::jthread> all;
  for (int number = 0; number < threads; ++number)
    all.emplace_back([&, number] {
      start.arrive_and_wait();
      each(number);
    });
}

}  // namespace

TEST_CASE("threads_of_one_client_exclude_each_other_and_all_get_the_lock") {
  LocalNodes nodes{5};
  InspectableLock locks{endpoints(nodes)};
  ExclusionChecker<1> checker;
  int unguarded = 0;  // protected only by the lock
  together(16, [&](int) {
    for (int turn = 0; turn < 10; ++turn) {
      auto lease = locks.lock("resource", {.ttl = 60s}).value();
      checker.acquired(0, lease);
      ++unguarded;
      checker.releasing(0, lease);
    }
  });
  CHECK(checker.overlaps() == 0);
  CHECK(checker.leases() == 16 * 10);
  CHECK(unguarded == 16 * 10);
  CHECK(eventually([&] { return Observers{nodes}.empty() == 5; }));
}

// Commands of several clients arrive in a different order on every node, so that votes are split.
TEST_CASE("clients_exclude_each_other_and_all_get_the_lock") {
  LocalNodes nodes{5};
  ExclusionChecker<1> checker;
  together(8, [&](int) {
    InspectableLock locks{endpoints(nodes)};
    for (int turn = 0; turn < 10; ++turn) {
      auto lease = locks.lock("resource", {.ttl = 60s}).value();
      checker.acquired(0, lease);
      std::this_thread::sleep_for(500us);  // the others find the lock taken
      checker.releasing(0, lease);
    }
  });
  CHECK(checker.overlaps() == 0);
  CHECK(checker.leases() == 8 * 10);
  CHECK(eventually([&] { return Observers{nodes}.empty() == 5; }));
}

// Every call has a time limit, and must get the lock long before it, however the votes are split.
TEST_CASE("no_contender_starves") {
  LocalNodes nodes{5};
  std::atomic<int> granted{0};
  together(8, [&](int) {
    InspectableLock locks{endpoints(nodes)};
    for (int turn = 0; turn < 4; ++turn) {
      const auto lease = locks.try_lock_for("resource", 50s, {.ttl = 60s});
      granted += lease ? 1 : 0;
      std::this_thread::sleep_for(500us);
    }
  });
  CHECK(granted == 8 * 4);
}

// Sometimes each of three contenders gets one of three nodes. If they kept these copies until the next attempt,
// all three would wait for a ttl, which is longer than any test here.
TEST_CASE("three_contenders_with_a_split_vote_do_not_wait_for_a_ttl") {
  LocalNodes nodes{3};
  const auto recorder = std::make_shared<RecordingObserver>();
  std::atomic<int> granted{0};
  for (int round = 0; round < 10; ++round)
    together(3, [&](int) {
      InspectableLock locks{endpoints(nodes), {.observer = recorder}};
      static_cast<void>(locks.lock("warm up", {.ttl = 60s}).value());
      for (int turn = 0; turn < 5; ++turn) {
        const auto lease = locks.try_lock_for("resource", 50s, {.ttl = 60s});
        granted += lease ? 1 : 0;
        std::this_thread::sleep_for(500us);
      }
    });
  CHECK(granted == 10 * 3 * 5);
  const auto attempts = recorder->attempts();
  CHECK(std::ranges::any_of(attempts, [](const auto& attempt) { return attempt.failure.has_value(); }));
  CHECK(eventually([&] { return Observers{nodes}.empty() == 3; }));
}

// Without pauses between attempts votes are certainly split. No copies may be left behind.
TEST_CASE("failed_attempts_leave_the_lock_available_to_the_next_caller") {
  LocalNodes nodes{3};
  std::atomic<int> held{0};
  ExclusionChecker<1> checker;
  together(6, [&](int) {
    InspectableLock locks{endpoints(nodes)};
    for (int attempt = 0; attempt < 150; ++attempt) {
      auto lease = locks.try_lock("resource", {.ttl = 60s});
      held += lease.code() == redlock::Errc::held ? 1 : 0;
      if (!lease) continue;
      checker.acquired(0, *lease);
      checker.releasing(0, *lease);
    }
  });
  CHECK(checker.overlaps() == 0);
  CHECK(checker.leases() > 0);
  CHECK(checker.leases() + held == 6 * 150);
  InspectableLock after{endpoints(nodes)};
  CHECK(is_granted(after.try_lock_for("resource", 50s, {.ttl = 60s})));
  CHECK(eventually([&] { return Observers{nodes}.empty() == 3; }));
}
