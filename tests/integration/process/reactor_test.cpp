// One thread polls for all threads that wait.
#include <atomic>
#include <chrono>
#include <future>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/network/proxy.hpp"
#include "support/network/raw_client.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::LockOptions;
using redlock::NodeReport;

namespace {

/// Timeouts longer than any test: a call that ends earlier did not wait for them.
const redlock::Options patient = [] {
  redlock::Options options;
  options.connect_timeout = 60s;
  options.node_timeout = 60s;
  return options;
}();
const LockOptions lasting{.ttl = 60s};
constexpr auto soon = 20s;

/// Makes all connections and waits until no reply is pending.
void warm_up(InspectableLock& locks, std::size_t nodes) {
  REQUIRE(is_granted(locks.try_lock("warm up", lasting)));
  REQUIRE(eventually([&] { return locks.ready_nodes() == nodes && locks.pending() == 0; }));
}

/// Whether a call without time for an answer fails.
bool gives_up_after(std::chrono::milliseconds time, InspectableLock& locks, const std::string& resource) {
  return !is_granted(locks.try_lock_for(resource, time, lasting));
}

/// Sends commands to a node that reads nothing, until its socket is full.
void fill_socket(InspectableLock& locks, redlock::core::NodeIndex node) {
  const std::string longest(4096, 'x');
  constexpr std::size_t more_than_one_call_leaves = 16 * 4096;
  for (int call = 0; call < 20'000 && locks.unsent(node) < more_than_one_call_leaves; ++call)
    gives_up_after(1ms, locks, longest);
  REQUIRE(locks.unsent(node) >= more_than_one_call_leaves);
}

template <class Call>
auto in_background(Call call) {
  return std::async(std::launch::async, std::move(call));
}

template <class Future>
bool is_over(const Future& future, std::chrono::milliseconds timeout = soon) {
  return future.wait_for(timeout) == std::future_status::ready;
}

}  // namespace

TEST_CASE("a_driver_that_times_out_hands_over_to_a_parked_waiter") {
  LocalNodes nodes{1};
  Proxy proxy{nodes.port(0)};
  InspectableLock locks{{proxy.url()}, patient};
  warm_up(locks, 1);
  proxy.stall(true);

  auto driver = in_background([&] { return gives_up_after(300ms, locks, "first"); });
  REQUIRE(eventually([&] { return locks.active() == 1; }));
  auto waiter = in_background([&] { return is_granted(locks.try_lock("second", lasting)); });
  REQUIRE(eventually([&] { return locks.active() == 2; }));
  CHECK(driver.get());
  CHECK_FALSE(is_over(waiter, 0ms));
  proxy.stall(false);
  CHECK(is_over(waiter));
  CHECK(waiter.get());
}

TEST_CASE("a_driver_that_is_stopped_hands_over_to_a_parked_waiter") {
  LocalNodes nodes{1};
  Proxy proxy{nodes.port(0)};
  InspectableLock locks{{proxy.url()}, patient};
  warm_up(locks, 1);
  proxy.stall(true);

  std::stop_source stop;
  auto driver = in_background([&] { return locks.lock("first", lasting, stop.get_token()).code(); });
  REQUIRE(eventually([&] { return locks.active() == 1; }));
  auto waiter = in_background([&] { return is_granted(locks.try_lock("second", lasting)); });
  REQUIRE(eventually([&] { return locks.active() == 2; }));
  stop.request_stop();
  CHECK(driver.get() == Errc::cancelled);
  proxy.stall(false);
  CHECK(is_over(waiter));
  CHECK(waiter.get());
  CHECK(eventually([&] { return RawClient{nodes.port(0)}.locks().empty(); }));
}

// Every thread drives, is parked and takes over in turn. No wake-up may get lost.
TEST_CASE("every_one_of_many_short_calls_gets_its_lock") {
  LocalNodes nodes{3};
  InspectableLock locks{{nodes.url(0), nodes.url(1), nodes.url(2)}};
  constexpr int threads = 12;
  constexpr int cycles = 250;
  std::atomic<int> granted{0};
  std::stop_source never;
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < threads; ++caller)
      callers.emplace_back([&, name = "resource " + std::to_string(caller)] {
        for (int cycle = 0; cycle < cycles; ++cycle) {
          // With a stop token a call releases the mutex once more before and after it waits.
          const std::stop_token token = cycle % 2 == 0 ? never.get_token() : std::stop_token{};
          const auto lease = locks.try_lock_for(name, 60s, {.ttl = 60s}, token);
          granted += lease ? 1 : 0;
        }
      });
  }
  CHECK(granted == threads * cycles);
  CHECK(locks.active() == 0);
  CHECK(eventually([&] { return locks.pending() == 0; }));
  for (int node = 0; node < 3; ++node) CHECK(RawClient{nodes.port(node)}.locks().empty());
}

// The polling thread watches sockets for input only. Another thread fills one of them, so that it must be watched for
// output too.
TEST_CASE("a_socket_filled_by_another_thread_is_flushed_by_the_polling_thread") {
  LocalNodes nodes{1};
  Proxy proxy{nodes.port(0)};
  InspectableLock locks{{proxy.url()}, patient};
  warm_up(locks, 1);
  proxy.stall(true);

  auto driver = in_background([&] { return locks.inspect("resource").front().status; });
  REQUIRE(eventually([&] { return locks.active() == 1; }));
  fill_socket(locks, 0);
  // No reply arrives that would wake the thread for another reason.
  proxy.stall(false, redlock::testing::Direction::to_server);
  CHECK(eventually([&] { return locks.unsent(0) == 0; }));
  CHECK_FALSE(is_over(driver, 0ms));
  proxy.stall(false);
  CHECK(driver.get() == redlock::NodeStatus::free);
}

// Commands to other nodes do not wait for room in one full socket.
TEST_CASE("a_full_socket_does_not_delay_other_nodes") {
  LocalNodes nodes{3};
  Proxy full{nodes.port(0)};
  InspectableLock locks{{full.url(), nodes.url(1), nodes.url(2)}, patient};
  warm_up(locks, 3);
  full.stall(true);
  fill_socket(locks, 0);

  std::vector<std::future<std::vector<NodeReport>>>
      waiting;  // for all nodes; not all of them send themselves
  for (std::size_t caller = 0; caller < 5; ++caller) {
    waiting.push_back(in_background([&] { return locks.inspect("resource"); }));
    REQUIRE(eventually([&] { return locks.active() == caller + 1; }));
  }
  auto quick = in_background([&] { return is_granted(locks.try_lock("resource", lasting)); });
  CHECK(is_over(quick));
  full.stall(false);
  CHECK(quick.get());
  for (auto& call : waiting) CHECK(call.get().size() == 3);
}

TEST_CASE("a_short_wait_ends_before_the_long_wait_of_the_polling_thread") {
  LocalNodes nodes{1};
  InspectableLock locks{{nodes.url(0)}, patient};
  warm_up(locks, 1);
  nodes.pause(0);

  auto driver = in_background([&] { return locks.inspect("resource").front().status; });
  REQUIRE(eventually([&] { return locks.active() == 1; }));
  auto quick = in_background([&] { return gives_up_after(20ms, locks, "resource"); });
  CHECK(is_over(quick));
  CHECK_FALSE(is_over(driver, 0ms));
  nodes.resume(0);
  CHECK(quick.get());
  CHECK(driver.get() == redlock::NodeStatus::free);
}
