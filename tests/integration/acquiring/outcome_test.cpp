// Every outcome other than a lock, with real servers.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>

#include "integration/support/measure.hpp"
#include "integration/support/node_reports.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

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
    REQUIRE(locks.try_lock("warm up"));
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

TEST_CASE("held_yields_an_empty_optional_at_once") {
  Held f;
  std::error_code ec;
  CHECK_FALSE(f.locks.try_lock("r"));
  CHECK_FALSE(f.locks.try_lock("r", {}, ec));
  CHECK(ec == Errc::held);
  CHECK(ec.message() == "held: somebody else has the lock");
  CHECK_FALSE(f.locks.try_lock_for("r", 0s, {}, {}, ec));
  CHECK(ec == Errc::held);
}

TEST_CASE("a_lock_held_on_a_majority_is_held_even_if_a_minority_is_down") {
  Held f;
  f.nodes.kill(2);
  std::error_code ec;
  CHECK_FALSE(f.locks.try_lock("r", {}, ec));
  CHECK(ec == Errc::held);
}

TEST_CASE("timed_out_yields_an_empty_optional_when_the_time_is_over") {
  Held f;
  std::error_code ec;
  const auto taken = time_of([&] { CHECK_FALSE(f.locks.try_lock_for("r", 150ms, {}, {}, ec)); });
  CHECK(taken >= 100ms);  // the last attempt begins a little earlier, so that its answers arrive in time
  CHECK(ec == Errc::timed_out);
  CHECK(ec == std::errc::timed_out);
  CHECK(ec.message() == "timed out: the lock was still held when the wait ended");
  CHECK_FALSE(f.locks.try_lock_for("r", 500ms));
}

TEST_CASE("a_waiting_call_reports_no_quorum_only_when_its_time_is_over") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes), {.node_timeout = 50ms}};
  REQUIRE(locks.try_lock("warm-up"));
  nodes.kill(0);
  nodes.pause(1);
  const auto taken = time_of([&] {
    const Error error = error_of([&] { (void)locks.try_lock_for("r", 400ms); });
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
  auto waiter = std::async(std::launch::async, [&] { return locks.try_lock_for("r", 20s).has_value(); });
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
  REQUIRE(locks.try_lock("warm-up"));
  proxies.set_delay(0ms, 20s);
  const auto taken = time_of([&] {
    const Error error = error_of([&] { (void)locks.try_lock("r", {.ttl = 100ms}); });
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
  REQUIRE(locks.try_lock("warm-up"));
  REQUIRE(eventually([&] { return servers.attempts() == 3; }));  // including the slowest
  for (const auto& proxy : proxies) proxy->stall(true, Direction::to_client);

  std::optional<Error> error;
  std::thread caller{[&] {
    try {
      (void)locks.try_lock("r", {.ttl = 1500ms});
    } catch (const Error& thrown) {
      error = thrown;
    }
  }};
  const bool executed = eventually([&] { return servers.attempts() == 6; });
  {
    const SuspendedThread suspended{caller};  // as if the thread got no processor time
    const auto until = Clock::now() + 1500ms;
    for (const auto& proxy : proxies) proxy->stall(false, Direction::to_client);
    std::this_thread::sleep_until(until);
  }
  caller.join();

  CHECK(executed);
  REQUIRE(error);
  CHECK(error->code() == Errc::too_slow);
  CHECK_THAT(error->what(),
             contains("too slow: a majority granted the lock, but its validity was already used up"));
  CHECK(count(error->nodes(), NodeStatus::granted) >= 2);
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
  std::error_code ec;
  CHECK_FALSE(f.locks.lock("r", {}, stop.get_token(), ec));
  CHECK(ec == Errc::cancelled);
  CHECK(ec == std::errc::operation_canceled);
  const Error error = error_of([&] { (void)f.locks.lock("free", {}, stop.get_token()); });
  CHECK(error.code() == Errc::cancelled);
  CHECK_THAT(error.what(), contains("cancelled: stop was requested"));
  CHECK(eventually([&] { return f.servers.having("free") == 0; }));
}

TEST_CASE("a_stop_request_during_an_attempt_cancels_it_at_once_and_releases_its_copies") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Proxies proxies{nodes};
  Redlock locks{proxies.endpoints(), {.connect_timeout = 20s, .node_timeout = 30s}};
  REQUIRE(locks.try_lock("warm-up"));
  REQUIRE(eventually([&] { return servers.attempts() == 3; }));  // including the slowest
  for (const auto& proxy : proxies) proxy->stall(true, Direction::to_client);
  std::stop_source stop;
  std::error_code ec;
  std::thread waiter{[&] { (void)locks.lock("r", {.ttl = 60s}, stop.get_token(), ec); }};
  REQUIRE(eventually([&] { return servers.attempts() == 6; }));
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
  std::thread waiter{[&] { (void)f.locks.try_lock_for("r", 600s, {}, stop.get_token(), ec); }};
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
      (void)locks.lock("r", {}, stop.get_token(), ec);
    }};
    about_to_call.get_future().wait();
    stop.request_stop();
    waiter.join();
  });
  CHECK(taken < 15s);
  CHECK(ec == Errc::cancelled);
}
