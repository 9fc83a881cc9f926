// Standard lock guards with a lock on real servers.
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/support/measure.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Errc;
using redlock::Mutex;
using redlock::Redlock;
using redlock::Release;

}  // namespace

TEST_CASE("a_scoped_lock_holds_the_lock_for_its_scope") {
  TwoClients f;
  Mutex mutex{f.locks, "r"};
  CHECK(mutex.lease() == nullptr);
  CHECK(mutex.last_release() == Release::unknown);
  {
    const std::scoped_lock guard{mutex};
    REQUIRE(mutex.lease() != nullptr);
    CHECK(mutex.lease()->resource() == "r");
    CHECK(mutex.lease()->remaining() > 0s);
    CHECK(f.others.try_lock("r").is_held());
  }
  CHECK(mutex.lease() == nullptr);
  CHECK(mutex.last_release() == Release::released);
  CHECK(eventually([&] { return f.servers.empty() == 3; }));
}

TEST_CASE("a_unique_lock_supports_every_operation_of_a_timed_mutex") {
  TwoClients f;
  Mutex mutex{f.locks, "r"};
  std::unique_lock guard{mutex, std::defer_lock};
  CHECK_FALSE(guard.owns_lock());
  CHECK(guard.try_lock());
  guard.unlock();
  guard.lock();
  guard.unlock();
  CHECK(guard.try_lock_for(20s));
  guard.unlock();
  CHECK(guard.try_lock_until(std::chrono::steady_clock::now() + 20s));
  std::unique_lock moved{std::move(guard)};
  CHECK(moved.owns_lock());
  CHECK(f.others.try_lock("r").is_held());
  moved.unlock();
  const std::unique_lock timed{mutex, 20s};
  CHECK(timed.owns_lock());
}

TEST_CASE("std_lock_locks_two_mutexes_in_any_order_without_deadlock") {
  TwoClients f;
  Mutex a{f.locks, "a", {.ttl = 20s}};
  Mutex b{f.others, "b", {.ttl = 20s}};
  Mutex a_elsewhere{f.others, "a", {.ttl = 20s}};
  Mutex b_elsewhere{f.locks, "b", {.ttl = 20s}};
  std::atomic<int> counter{0};
  const auto add = [&counter](Mutex& one, Mutex& two) {
    for (int i = 0; i < 10; ++i) {
      const std::scoped_lock both{one, two};
      counter = counter + 1;  // not atomic as a whole: protected only by the locks on the servers
    }
  };
  std::thread thread{[&] { add(b_elsewhere, a_elsewhere); }};
  add(a, b);
  thread.join();
  CHECK(counter == 20);
}

TEST_CASE("threads_of_one_mutex_exclude_each_other") {
  TwoClients f;
  Mutex mutex{f.locks, "r"};
  int counter = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 25; ++k) {
        const std::scoped_lock guard{mutex};
        ++counter;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(counter == 200);
  CHECK(mutex.last_release() == Release::released);
}

TEST_CASE("try_lock_fails_at_once_if_another_thread_or_client_holds_the_lock") {
  TwoClients f;
  Mutex mutex{f.locks, "r"};
  Mutex elsewhere{f.others, "r"};
  const std::scoped_lock guard{mutex};
  std::thread{[&] {
    const std::unique_lock own{mutex, std::try_to_lock};
    const std::unique_lock foreign{elsewhere, std::try_to_lock};
    CHECK_FALSE(own.owns_lock());
    CHECK_FALSE(foreign.owns_lock());
  }}.join();
}

TEST_CASE("a_mutex_works_when_its_client_object_was_moved_or_destroyed") {
  LocalNodes nodes{3};
  std::optional<Redlock> first{endpoints(nodes)};
  Mutex mutex{*first, "r"};
  std::optional<Redlock> second{std::move(*first)};
  first.reset();
  { const std::scoped_lock guard{mutex}; }
  CHECK(mutex.last_release() == Release::released);
  second.reset();
  const std::scoped_lock guard{mutex};
  CHECK(mutex.lease()->valid());
}

TEST_CASE("timed_tries_accept_any_duration_and_any_clock") {
  TwoClients f;
  Mutex mutex{f.locks, "r"};
  Mutex elsewhere{f.others, "r"};
  const std::scoped_lock guard{mutex};
  const auto taken = time_of([&] {
    CHECK_FALSE(elsewhere.try_lock_for(std::chrono::duration<double>{0.05}));
    CHECK_FALSE(elsewhere.try_lock_for(std::chrono::duration<float, std::milli>{50.5F}));
    CHECK_FALSE(elsewhere.try_lock_for(0s));
    CHECK_FALSE(elsewhere.try_lock_for(-1h));
    CHECK_FALSE(elsewhere.try_lock_until(std::chrono::system_clock::now() + 50ms));
    CHECK_FALSE(elsewhere.try_lock_until(std::chrono::steady_clock::now() + 50ms));
    CHECK_FALSE(elsewhere.try_lock_until(Clock::now() + 50ms));
    CHECK_FALSE(elsewhere.try_lock_until(std::chrono::system_clock::now() - 1h));
  });
  CHECK(taken < 20s);
}

// As std::timed_mutex does. The nodes may be as healthy as ever.
TEST_CASE("a_timed_try_that_is_too_short_for_the_nodes_to_answer_returns_false") {
  TwoClients f;
  f.locks.lock("warm-up").value().release();
  Mutex mutex{f.locks, "m"};
  redlock::SharedMutex shared{f.locks, "s"};
  redlock::Semaphore semaphore{f.locks, "n", 2};
  for (int node = 0; node < 3; ++node) f.nodes.pause(node);
  CHECK_FALSE(mutex.try_lock_for(1us));
  CHECK_FALSE(std::unique_lock{mutex, 1us}.owns_lock());
  CHECK_FALSE(shared.try_lock_for(1us));
  CHECK_FALSE(shared.try_lock_shared_for(1us));
  CHECK_FALSE(semaphore.try_acquire_for(1us));
  for (int node = 0; node < 3; ++node) f.nodes.resume(node);
  CHECK(mutex.try_lock_for(20s));
  CHECK_FALSE(std::async(std::launch::async, [&] { return mutex.try_lock_for(1us); }).get());
  mutex.unlock();
}

TEST_CASE("the_most_negative_wait_does_not_wait_for_another_client") {
  TwoClients f;
  Mutex elsewhere{f.others, "r"};
  auto lease = f.locks.try_lock("r");
  REQUIRE(lease);
  auto waiter = std::async(std::launch::async, [&] {
    const bool locked = elsewhere.try_lock_for(std::chrono::hours::min());
    if (locked) elsewhere.unlock();
    return locked;
  });
  CHECK(waiter.wait_for(20s) == std::future_status::ready);
  lease->release();
  CHECK_FALSE(waiter.get());
}

TEST_CASE("timed_tries_succeed_when_the_lock_becomes_free") {
  TwoClients f;
  Mutex elsewhere{f.others, "r"};
  const auto wait = GENERATE(0, 1, 2, 3);
  auto lease = f.locks.try_lock("r");
  REQUIRE(lease);
  const auto sets = f.servers.attempts();
  auto waiter = std::async(std::launch::async, [&] {
    bool locked = false;
    if (wait == 0) locked = elsewhere.try_lock_for(std::chrono::hours::max());
    if (wait == 1) locked = elsewhere.try_lock_for(std::chrono::duration<double>{20.5});
    if (wait == 2) locked = elsewhere.try_lock_until(std::chrono::system_clock::now() + 20s);
    if (wait == 3) locked = elsewhere.try_lock_until(Clock::time_point::max());
    if (locked) elsewhere.unlock();
    return locked;
  });
  REQUIRE(eventually([&] { return f.servers.attempts() >= sets + 3; }));
  lease->release();
  CHECK(waiter.get());
}

TEST_CASE("a_wait_by_another_clock_survives_several_rounds_and_unreachable_nodes") {
  TwoClients f;
  Redlock locks{endpoints(f.nodes), {.restart_guard = redlock::RestartGuard::off}};
  Mutex mutex{locks, "r"};
  for (const int node : {0, 1}) f.nodes.kill(node);
  auto waiter = std::async(std::launch::async, [&] {
    const bool locked = mutex.try_lock_until(std::chrono::system_clock::now() + 30s);
    if (locked) mutex.unlock();
    return locked;
  });
  CHECK(waiter.wait_for(1200ms) == std::future_status::timeout);  // longer than one round
  f.nodes.restart_empty(0);
  CHECK(waiter.get());
}

TEST_CASE("a_wait_until_a_time_point_of_a_steady_clock_keeps_its_place_in_line") {
  TwoClients f;
  redlock::Lease holder = f.others.try_lock("r").value();
  Mutex mutex{f.locks, "r"};
  auto waiter = std::async(std::launch::async, [&] {
    const bool locked = mutex.try_lock_until(std::chrono::steady_clock::now() + 30s);
    if (locked) mutex.unlock();
    return locked;
  });
  const auto waits_for = [&](std::chrono::nanoseconds time) {
    const auto line = line_in(f.others.inspect("r"));
    return line.size() == 1 && line.front().waited >= time;
  };
  CHECK(eventually([&] { return waits_for(1500ms); }));  // longer than one round by another clock
  holder.release();
  CHECK(waiter.get());
}

TEST_CASE("an_unlock_after_a_loss_reports_it_and_leaves_the_successor_alone") {
  TwoClients f;
  Mutex mutex{f.locks, "r", {.ttl = 100ms, .renewal = redlock::Renewal::none}};
  mutex.lock();
  REQUIRE(eventually([&] { return !mutex.lease()->valid() && f.servers.having("r") == 0; }));
  const auto successor = f.others.try_lock("r");
  REQUIRE(successor);
  std::thread{[&] { CHECK_FALSE(mutex.try_lock()); }}.join();  // the local mutex is still locked
  mutex.unlock();
  CHECK(mutex.last_release() == Release::already_lost);
  CHECK(f.servers.holding("r", successor->owner_value()) >= 2);
}

TEST_CASE("a_mutex_refuses_options_of_locks_with_several_holders") {
  const LocalNodes nodes{1};
  Redlock locks{endpoints(nodes)};
  CHECK_THROWS_WITH((Mutex{locks, "r", {.seats = 2}}),
                    contains("seats is set; a mutex has one holder at a time, so use Semaphore"));
  CHECK_THROWS_WITH((Mutex{locks, "r", {.shared = true}}),
                    contains("shared is set; a mutex has one holder at a time, so use SharedMutex"));
  CHECK_THROWS_WITH((redlock::RecursiveMutex{locks, "r", {.seats = 2}}), contains("so use Semaphore"));
  CHECK_THROWS_WITH((redlock::RecursiveMutex{locks, "r", {.shared = true}}), contains("so use SharedMutex"));
  CHECK_THROWS_WITH((redlock::SharedMutex{locks, "r", {.seats = 2}}), contains("so use Semaphore"));
}

TEST_CASE("a_mutex_with_bad_arguments_or_servers_throws_and_stays_unlocked") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes), {.max_ttl = 2s}};
  Mutex bad{locks, "", {.ttl = 2s}};
  CHECK(error_of([&] { bad.lock(); }).code() == Errc::invalid_argument);
  CHECK(error_of([&] { (void)bad.try_lock(); }).code() == Errc::invalid_argument);
  CHECK(error_of([&] { (void)bad.try_lock_for(1s); }).code() == Errc::invalid_argument);

  Mutex mutex{locks, "r", {.ttl = 2s}};
  for (const int node : {0, 1}) nodes.kill(node);
  CHECK(error_of([&] { (void)mutex.try_lock(); }).code() == Errc::no_quorum);
  CHECK(error_of([&] { (void)mutex.try_lock_for(1s); }).code() == Errc::no_quorum);
  CHECK(mutex.lease() == nullptr);
  nodes.restart_empty(0);
  mutex.lock();  // waits for the quorum
  mutex.unlock();
}
