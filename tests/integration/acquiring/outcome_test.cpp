// Every outcome other than a lock, with real servers.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <future>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>

#include "integration/support/all_nodes.hpp"
#include "integration/support/measure.hpp"
#include "integration/support/node_reports.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Errc;
using redlock::Error;
using redlock::NodeStatus;
using redlock::Redlock;
using redlock::State;

/// Three nodes on which another owner has "r".
struct Held {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Held() {
    REQUIRE(is_granted(locks.try_lock("warm up")));
    servers.command({"SET", "r", "somebody", "PX", "600000"});
  }
};

/// Suspends a thread until the destructor, in a signal handler.
class SuspendedThread {
 public:
  explicit SuspendedThread(std::thread& thread) {
    over = entered = false;
    std::signal(SIGUSR1, [](int) {
      entered = true;
      const timespec moment{0, 1'000'000};
      while (!over) ::nanosleep(&moment, nullptr);
    });
    ::pthread_kill(thread.native_handle(), SIGUSR1);
    while (!entered) std::this_thread::yield();
  }
  SuspendedThread(const SuspendedThread&) = delete;
  SuspendedThread& operator=(const SuspendedThread&) = delete;
  ~SuspendedThread() { over = true; }

 private:
  static inline std::atomic<bool> entered;
  static inline std::atomic<bool> over;
};

}  // namespace

TEST_CASE("a_held_lock_is_reported_at_once_with_its_holder") {
  Held f;
  const auto result = f.locks.try_lock("r");
  CHECK_FALSE(result);
  CHECK(result.code() == Errc::held);
  CHECK_THAT(result.message(),
             Catch::Matchers::StartsWith(
                 "held: somebody else has the lock or stands in line, or at_least keeps it: "));
  REQUIRE(result.holder());
  CHECK(result.holder()->owner_value == "somebody");
  CHECK(result.holder()->ttl > 500s);
  CHECK(f.locks.try_lock_for("r", 0s).code() == Errc::held);
  CHECK_FALSE(f.locks.try_lock("r", {.fencing = false}).holder());  // the nodes do not say
}

TEST_CASE("a_node_that_had_not_answered_when_the_others_had_decided_is_not_called_silent") {
  Held held;
  Proxies proxies{held.nodes};
  Redlock locks{proxies.endpoints(), {.node_timeout = 20s}};
  REQUIRE(eventually([&] { return is_granted(locks.try_lock("warm up")); }));
  proxies[2].stall(true);
  const redlock::LockResult result = locks.try_lock("r");
  CHECK(result.code() == Errc::held);
  CHECK(result.nodes()[2].status == NodeStatus::not_awaited);
  CHECK(result.nodes()[2].message == "the call ended before the node answered");
  CHECK(count(result.nodes(), NodeStatus::held) == 2);
}

TEST_CASE("the_time_until_a_held_lock_expires_is_reported") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  const redlock::Lease lease = locks.lock("r", {.ttl = 50s}).value();
  const auto holder = locks.try_lock("r").holder();
  REQUIRE(holder);
  CHECK(holder->owner_value == lease.owner_value());
  CHECK(holder->ttl > 30s);
  CHECK(holder->ttl <= 50s);
}

TEST_CASE("a_lock_held_on_a_majority_is_held_even_if_a_minority_is_down") {
  Held f;
  f.nodes.kill(2);
  CHECK(f.locks.try_lock("r").code() == Errc::held);
}

TEST_CASE("timed_out_is_reported_when_the_time_is_over") {
  Held f;
  const Clock::time_point begun = Clock::now();
  const auto result = f.locks.try_lock_for("r", 150ms);
  CHECK(Clock::now() - begun >=
        100ms);  // the last attempt begins a little earlier: its answers arrive in time
  CHECK(result.code() == Errc::timed_out);
  CHECK(result.code() == std::errc::timed_out);
  CHECK_THAT(result.message(),
             Catch::Matchers::StartsWith("timed out: the lock was still held when the wait ended"));
  CHECK(f.locks.try_lock_for("r", 500ms).is_held());
}

TEST_CASE("a_waiting_call_reports_no_quorum_only_when_its_time_is_over") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes), {.node_timeout = 50ms}};
  REQUIRE(is_granted(locks.try_lock("warm-up")));
  nodes.kill(0);
  nodes.pause(1);
  const auto taken = time_of([&] {
    const Error error = error_of([&] { (void)locks.try_lock_for("r", 400ms).value(); });
    CHECK(error.code() == Errc::no_quorum);
    CHECK(error.nodes().size() == 3);
    CHECK_THAT(error.what(), contains("no quorum: ") && contains(" of 3 nodes voted, 2 needed"));
  });
  CHECK(taken >= 300ms);
}

TEST_CASE("a_waiting_call_gets_the_lock_when_the_quorum_returns") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes), {.node_timeout = 50ms, .restart_guard = redlock::RestartGuard::off}};
  nodes.kill(0);
  nodes.kill(1);
  auto waiter = std::async(std::launch::async, [&] { return is_granted(locks.try_lock_for("r", 20s)); });
  Observers living{nodes, {2}};
  REQUIRE(eventually([&] { return living.attempts() >= 2; }));
  nodes.restart_empty(0);
  CHECK(waiter.get());
}

TEST_CASE("a_call_does_not_wait_for_answers_beyond_the_validity") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Proxies proxies{nodes};
  Redlock locks{proxies.endpoints(), {.connect_timeout = 20s, .node_timeout = 30s}};
  REQUIRE(is_granted(locks.try_lock("warm-up")));
  proxies.set_delay(0ms, 20s);
  const auto taken = time_of([&] {
    const Error error = error_of([&] { (void)locks.try_lock("r", {.ttl = 100ms}).value(); });
    CHECK(error.code() == Errc::no_quorum);
    CHECK_THAT(error.what(), contains("timed out (no answer within 97 ms)"));
  });
  CHECK(taken < 10s);
  CHECK(eventually([&] { return servers.empty() == 3; }));
}

TEST_CASE("grants_of_a_majority_read_after_the_validity_ended_are_too_slow") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Proxies proxies{nodes};
  Redlock locks{proxies.endpoints(), {.connect_timeout = 20s, .node_timeout = 30s}};
  reach_all(locks, servers);
  const std::uint64_t before = servers.attempts();
  for (const auto& proxy : proxies) proxy->stall(true, Direction::to_client);

  redlock::LockResult result{Errc::lost};
  std::thread caller{[&] { result = locks.try_lock("r", {.ttl = 1500ms}); }};
  const bool executed = eventually([&] { return servers.attempts() == before + 3; });
  {
    const SuspendedThread suspended{caller};  // as if the thread got no processor time
    const auto until = Clock::now() + 1500ms;
    for (const auto& proxy : proxies) proxy->stall(false, Direction::to_client);
    std::this_thread::sleep_until(until);
  }
  caller.join();

  CHECK(executed);
  CHECK(result.code() == Errc::too_slow);
  CHECK_THAT(result.message(),
             contains("too slow: a majority granted the lock, but its validity was already used up"));
  CHECK(count(result.nodes(), NodeStatus::granted) >= 2);
  CHECK(eventually([&] { return servers.empty() == 3; }));
}

TEST_CASE("an_extension_of_a_lease_whose_copies_are_gone_reports_lost") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  auto lease = locks.try_lock("r");
  REQUIRE(lease);
  REQUIRE(eventually([&] { return servers.having("r") == 3; }));
  servers.command({"FLUSHALL"});
  std::error_code ec;
  CHECK_FALSE(lease->extend(ec));
  CHECK(ec == Errc::lost);
  CHECK(ec.message() == "lost: the lease is gone");
  CHECK(lease->state() == State::lost);
}

TEST_CASE("a_stop_request_before_the_call_cancels_it") {
  Held f;
  std::stop_source stop;
  stop.request_stop();
  CHECK(f.locks.lock("r", {}, stop.get_token()).code() == std::errc::operation_canceled);
  const Error error = error_of([&] { (void)f.locks.lock("free", {}, stop.get_token()).value(); });
  CHECK(error.code() == Errc::cancelled);
  CHECK_THAT(error.what(), contains("cancelled: stop was requested"));
  CHECK(eventually([&] { return f.servers.having("free") == 0; }));
}

TEST_CASE("a_stop_request_during_an_attempt_cancels_it_at_once_and_releases_its_copies") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Proxies proxies{nodes};
  Redlock locks{proxies.endpoints(), {.connect_timeout = 20s, .node_timeout = 30s}};
  reach_all(locks, servers);
  const std::uint64_t before = servers.attempts();
  for (const auto& proxy : proxies) proxy->stall(true, Direction::to_client);
  std::stop_source stop;
  std::error_code ec;
  std::thread waiter{[&] { ec = locks.lock("r", {.ttl = 60s}, stop.get_token()).code(); }};
  REQUIRE(eventually([&] { return servers.attempts() == before + 3; }));
  const auto taken = time_of([&] {
    stop.request_stop();
    waiter.join();
  });
  CHECK(taken < 15s);  // does not wait for the nodes
  CHECK(ec == Errc::cancelled);
  CHECK(eventually([&] { return servers.having("r") == 0; }));
}

TEST_CASE("a_stop_request_between_two_attempts_ends_the_pause") {
  Held f;
  std::stop_source stop;
  std::error_code ec;
  const auto sets = f.servers.attempts();
  std::thread waiter{[&] {
    ec = f.locks.try_lock_for("r", 600s, {.order = redlock::Order::none}, stop.get_token()).code();
  }};
  // By now pauses are much longer than attempts.
  REQUIRE(eventually([&] { return f.servers.attempts() >= sets + 3 * 6; }));
  stop.request_stop();
  waiter.join();
  CHECK(ec == Errc::cancelled);
  CHECK(f.servers.holding("r", "somebody") == 3);
}

TEST_CASE("a_stop_request_during_the_first_connect_cancels_the_call") {
  LocalNodes nodes{1};
  nodes.pause(0);
  Redlock locks{endpoints(nodes), {.connect_timeout = 30s}};
  std::stop_source stop;
  std::error_code ec;
  std::promise<void> about_to_call;
  const auto taken = time_of([&] {
    std::thread waiter{[&] {
      about_to_call.set_value();
      ec = locks.lock("r", {}, stop.get_token()).code();
    }};
    about_to_call.get_future().wait();
    stop.request_stop();
    waiter.join();
  });
  CHECK(taken < 15s);
  CHECK(ec == Errc::cancelled);
}
