// The background thread: what it does between calls, and when it sleeps.
#include <chrono>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/network/proxy.hpp"
#include "support/own_process.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

namespace {

const redlock::LockOptions lasting{.ttl = 60s};

/// The threads that did not exist before.
std::set<pid_t> new_threads(const std::set<pid_t>& before) {
  std::set<pid_t> result = threads();
  for (const pid_t thread : before) result.erase(thread);
  return result;
}

/// How often threads wake in a time that is long compared with the pauses of a polling loop.
std::uint64_t wakes(const std::set<pid_t>& watched, std::chrono::milliseconds time = 500ms) {
  std::uint64_t sum = 0;
  for (const pid_t thread : watched) sum -= sleeps_of(thread);
  std::this_thread::sleep_for(time);
  for (const pid_t thread : watched) sum += sleeps_of(thread);
  return sum;
}

/// One node answers only after the call has returned.
void leave_a_release_to_the_background(InspectableLock& locks, LocalNodes& nodes) {
  REQUIRE(is_granted(locks.try_lock("warm up", lasting)));
  REQUIRE(eventually([&] { return locks.ready(0); }));
  nodes.pause(0);
  REQUIRE(is_granted(locks.try_lock("resource", lasting)));
  REQUIRE(locks.pending() > 0);
  nodes.resume(0);
  REQUIRE(eventually([&] { return locks.pending() == 0; }));
}

/// Makes a call that ends before any answer and leaves a release to be sent.
void give_up_soon(InspectableLock& locks, const std::string& resource) {
  REQUIRE_FALSE(is_granted(locks.try_lock_for(resource, 1ms, lasting)));
}

/// There is one new thread, and it does nothing.
void check_that_the_new_thread_sleeps(const std::set<pid_t>& before) {
  std::this_thread::sleep_for(50ms);
  CHECK(new_threads(before).size() == 1);
  CHECK(wakes(new_threads(before)) <= 2);
}

}  // namespace

TEST_CASE("a_release_pending_for_a_dead_node_is_delivered_without_further_calls") {
  LocalNodes nodes{3, {.persist = true}};
  InspectableLock locks{endpoints(nodes)};
  Observers servers{nodes};
  reach_all(locks, servers);
  {
    const auto lease = locks.try_lock("resource", lasting);
    REQUIRE(lease);
    REQUIRE(eventually([&] { return servers.having("resource") == 3; }));
    nodes.kill(2);
    REQUIRE(eventually([&] {
      static_cast<void>(locks.inspect("resource"));  // notices the dead node
      return !locks.ready(2);
    }));
  }
  nodes.restart_with_data(2);
  CHECK(eventually([&] { return Observers{nodes}.empty() == 3; }));
}

TEST_CASE("a_release_that_did_not_fit_into_a_socket_is_delivered_without_further_calls") {
  LocalNodes nodes{1};
  Proxy proxy{nodes.port(0)};
  redlock::Options patient;
  patient.node_timeout = 60s;
  InspectableLock locks{{proxy.url()}, patient};
  REQUIRE(is_granted(locks.try_lock("warm up", lasting)));
  proxy.stall(true);
  for (int call = 0; call < 20'000 && locks.unsent(0) < 100'000; ++call)
    give_up_soon(locks, std::string(4096, 'x'));
  REQUIRE(locks.unsent(0) >= 100'000);
  proxy.stall(false);
  CHECK(eventually([&] { return locks.unsent(0) == 0 && locks.pending() == 0; }));
  CHECK(Observers{nodes}.empty() == 1);
}

TEST_CASE("a_returned_node_is_reconnected_without_further_calls") {
  LocalNodes nodes{3};
  InspectableLock locks{endpoints(nodes)};
  REQUIRE(is_granted(locks.try_lock("resource", lasting)));
  for (int round = 0; round < 2; ++round) {
    nodes.kill(1);
    REQUIRE(eventually([&] {
      static_cast<void>(locks.try_lock("resource", lasting));
      return !locks.ready(1);
    }));
    nodes.restart_empty(1);
    CHECK(eventually([&] { return locks.ready(1); }));
  }
}

TEST_CASE("a_returned_node_is_reconnected_beside_calls_that_fail_at_once") {
  LocalNodes nodes{1};
  InspectableLock locks{endpoints(nodes)};
  REQUIRE(is_granted(locks.try_lock("resource", lasting)));
  nodes.kill(0);
  REQUIRE(eventually([&] {
    static_cast<void>(locks.try_lock("resource", lasting));
    return !locks.ready(0);
  }));
  nodes.restart_empty(0);
  const auto end = redlock::Clock::now() + 20s;
  // Without a pause between the calls.
  while (!locks.ready(0) && redlock::Clock::now() < end)
    static_cast<void>(locks.try_lock("resource", lasting));
  CHECK(locks.ready(0));
}

TEST_CASE("the_background_thread_sleeps_when_idle") {
  LocalNodes nodes{3};
  const std::set<pid_t> before = threads();
  InspectableLock locks{endpoints(nodes)};
  leave_a_release_to_the_background(locks, nodes);
  REQUIRE(eventually([&] { return !new_threads(before).empty() && locks.pending() == 0; }));
  check_that_the_new_thread_sleeps(before);
}

TEST_CASE("the_background_thread_sleeps_while_a_lease_is_held") {
  LocalNodes nodes{3};
  const std::set<pid_t> before = threads();
  InspectableLock locks{endpoints(nodes)};
  const auto lease = locks.try_lock("resource", lasting);
  REQUIRE(lease);
  REQUIRE(eventually([&] { return !new_threads(before).empty(); }));
  check_that_the_new_thread_sleeps(before);
}

// With one node, no reply is left for the background thread when a call returns.
TEST_CASE("short_locks_do_not_wake_the_background_thread") {
  LocalNodes nodes{1};
  const std::set<pid_t> before = threads();
  InspectableLock locks{endpoints(nodes)};
  // Not watched: after a second, that would wake the thread.
  const auto first = locks.try_lock("first", {.ttl = 60s, .renewal = redlock::Renewal::none});
  REQUIRE(first);
  std::this_thread::sleep_for(50ms);
  const std::set<pid_t> background = new_threads(before);
  REQUIRE(background.size() == 1);
  const std::uint64_t sleeps = sleeps_of(*background.begin());
  const redlock::Clock::time_point begun = redlock::Clock::now();
  for (int cycle = 0; cycle < 2000; ++cycle) REQUIRE(is_granted(locks.try_lock("resource", lasting)));
  // Each second, its timer finds that the lock for which it was set has been released.
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(redlock::Clock::now() - begun).count();
  CHECK(sleeps_of(*background.begin()) - sleeps <= 3 + 2 * static_cast<std::uint64_t>(seconds));
}

TEST_CASE("busy_calls_seldom_wake_the_background_thread_for_replies_that_come_late") {
  LocalNodes nodes{3};
  const std::set<pid_t> before = threads();
  InspectableLock locks{endpoints(nodes)};
  REQUIRE(is_granted(locks.try_lock("warm up", lasting)));
  REQUIRE(eventually([&] { return new_threads(before).size() == 1; }));
  const pid_t background = *new_threads(before).begin();
  CHECK(eventually([&] {  // repeated in case the machine was too busy
    const std::uint64_t sleeps = sleeps_of(background);
    const auto end = redlock::Clock::now() + 500ms;
    bool all_granted = true;
    while (redlock::Clock::now() < end) all_granted &= is_granted(locks.try_lock("resource", lasting));
    // Every 20 ms, and each time it may have to wait for the caller.
    return all_granted && sleeps_of(background) - sleeps <= 500 / 20 * 2;
  }));
}

TEST_CASE("the_background_thread_sleeps_while_a_caller_polls") {
  LocalNodes nodes{1};
  redlock::Options patient;
  patient.node_timeout = 60s;
  const std::set<pid_t> before = threads();
  std::optional<InspectableLock> locks{std::in_place, endpoints(nodes), patient};
  REQUIRE(is_granted(locks->try_lock("resource", lasting)));
  nodes.pause(0);
  // The release is still pending when the call returns, so the background thread starts.
  give_up_soon(*locks, "resource");
  REQUIRE(eventually([&] { return !new_threads(before).empty(); }));
  const std::set<pid_t> background = new_threads(before);

  auto caller = std::async(std::launch::async, [&] { return locks->inspect("resource").front().status; });
  REQUIRE(eventually([&] { return locks->active() == 1; }));
  std::this_thread::sleep_for(50ms);
  CHECK(wakes(background) <= 2);
  nodes.resume(0);
  CHECK(caller.get() == redlock::NodeStatus::free);
}

TEST_CASE("the_background_thread_ends_with_the_last_owner") {
  LocalNodes nodes{3};
  const std::set<pid_t> before = threads();
  {
    InspectableLock locks{endpoints(nodes)};
    leave_a_release_to_the_background(locks, nodes);
    CHECK(new_threads(before).size() == 1);
  }
  CHECK(eventually([&] { return new_threads(before).empty(); }));
}
