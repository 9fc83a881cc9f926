// Stop requests that race with calls.
#include <atomic>
#include <barrier>
#include <chrono>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;

namespace {

bool everything_is_gone(const LocalNodes& nodes) { return Observers{nodes}.empty() == nodes.size(); }

void spin_for(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

/// Races stop requests with calls many times.
struct Race {
  explicit Race(redlock::LockClient& with, std::string resource) : locks{with}, name{std::move(resource)} {}

  /// Requests a stop up to 400 µs after the call has begun, which is about when it ends.
  void run(int rounds) {
    std::barrier start{2};
    std::stop_source stop;
    std::jthread stopper{[&] {
      std::minstd_rand random{static_cast<unsigned>(rounds) + 17U};
      for (int round = 0; round < rounds; ++round) {
        start.arrive_and_wait();
        spin_for(std::chrono::microseconds{random() % 400});
        stop.request_stop();
        start.arrive_and_wait();
      }
    }};
    for (int round = 0; round < rounds; ++round) {
      stop = std::stop_source{};
      start.arrive_and_wait();
      const auto lease = locks.lock(name, {.ttl = 60s}, stop.get_token());
      ++(lease ? leases : lease.code() == Errc::cancelled ? cancelled : others);
      start.arrive_and_wait();
    }
  }

  redlock::LockClient& locks;
  std::string name;
  int leases = 0;
  int cancelled = 0;
  int others = 0;
  int contradictions = 0;  // a lease and an error, or neither
};

}  // namespace

TEST_CASE("a_stop_request_racing_completion_leaves_a_lease_or_nothing") {
  LocalNodes nodes{3};
  InspectableLock locks{endpoints(nodes)};
  REQUIRE(is_granted(locks.try_lock("warm up")));

  Race race{locks, "resource"};
  race.run(3000);
  CHECK(race.leases > 0);
  CHECK(race.cancelled > 0);
  CHECK(race.others == 0);
  CHECK(race.contradictions == 0);
  CHECK(locks.active() == 0);
  // The ttl is long: only releases can have done this.
  CHECK(eventually([&] { return everything_is_gone(nodes); }));
}

TEST_CASE("stop_requests_of_many_callers_do_not_affect_other_callers") {
  LocalNodes nodes{3};
  InspectableLock locks{endpoints(nodes)};
  constexpr int rounds = 250;
  std::atomic<bool> over{false};
  std::atomic<int> undisturbed{0};
  std::atomic<int> disturbed{0};
  Race first{locks, "first"};
  Race second{locks, "second"};
  {
    std::jthread neighbour{[&] {
      while (!over) ++(is_granted(locks.try_lock("neighbour", {.ttl = 60s})) ? undisturbed : disturbed);
    }};
    {
      std::jthread one{[&] { first.run(rounds); }};
      std::jthread two{[&] { second.run(rounds); }};
    }
    over = true;
  }
  CHECK(first.leases + first.cancelled == rounds);
  CHECK(second.leases + second.cancelled == rounds);
  CHECK(undisturbed > 0);
  CHECK(disturbed == 0);
  CHECK(eventually([&] { return everything_is_gone(nodes); }));
}

TEST_CASE("a_stop_request_ends_a_call_that_waits_for_a_hung_majority") {
  LocalNodes nodes{3};
  redlock::Options patient;
  patient.node_timeout = 60s;
  InspectableLock locks{endpoints(nodes), patient};
  REQUIRE(is_granted(locks.try_lock("warm up", {.ttl = 60s})));
  nodes.pause(0);
  nodes.pause(1);

  std::stop_source stop;
  redlock::LockResult result{Errc::held};
  std::jthread caller{[&] { result = locks.lock("resource", {.ttl = 60s}, stop.get_token()); }};
  REQUIRE(eventually([&] { return locks.active() == 1; }));
  stop.request_stop();
  caller.join();
  CHECK(result.code() == Errc::cancelled);
  CHECK_THAT(result.message(), contains("stop was requested; "));
  nodes.resume(0);
  nodes.resume(1);
  CHECK(eventually([&] { return everything_is_gone(nodes); }));
}

TEST_CASE("a_call_with_stop_already_requested_leaves_nothing_behind") {
  LocalNodes nodes{3};
  InspectableLock locks{endpoints(nodes)};
  std::stop_source stop;
  stop.request_stop();
  for (int call = 0; call < 100; ++call) {
    CHECK(locks.lock("resource", {.ttl = 60s}, stop.get_token()).code() == Errc::cancelled);
  }
  CHECK(eventually([&] { return everything_is_gone(nodes); }));
}
