// RecursiveMutex with a lock on real servers.
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/measure.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::RecursiveMutex;
using redlock::Redlock;
using redlock::Release;

}  // namespace

TEST_CASE("an_inner_unlock_of_a_recursive_mutex_keeps_the_lock_on_the_nodes") {
  TwoClients f;
  RecursiveMutex mutex{f.locks, "r", {.renewal = redlock::Renewal::none}};
  {
    const std::unique_lock outer{mutex};
    const std::string owner = mutex.lease()->owner_value();
    REQUIRE(eventually([&] { return f.servers.holding("r", owner) == 3; }));
    { const std::scoped_lock inner{mutex}; }
    CHECK(f.servers.holding("r", owner) == 3);
    CHECK(mutex.lease()->owner_value() == owner);
  }
  CHECK(mutex.last_release() == Release::released);
  CHECK(eventually([&] { return f.servers.empty() == 3; }));
}

TEST_CASE("a_recursive_mutex_that_is_locked_again_sends_no_command") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), {.node_timeout = 5s, .restart_guard = redlock::RestartGuard::off}};
  RecursiveMutex mutex{locks, "r", {.ttl = 60s, .renewal = redlock::Renewal::none}};
  mutex.lock();
  REQUIRE(eventually([&] { return servers.holding("r", mutex.lease()->owner_value()) == 3; }));
  // The commands that inspect the lock travel behind those of the call, if it sends any.
  const auto commands_of = [&](const auto& call) {
    const std::uint64_t before = servers.commands();
    call();
    CHECK(locks.inspect("r").size() == 3);
    return servers.commands() - before;
  };
  static_cast<void>(commands_of([] {}));  // those of the first lock are over
  const std::uint64_t of_inspection = commands_of([] {});
  CHECK(of_inspection == commands_of([&] {
          for (int i = 0; i < 100; ++i) {
            const std::unique_lock tried{mutex, std::try_to_lock};
            const std::scoped_lock inner{mutex};
            const std::unique_lock timed{mutex, 1s};
          }
        }));
  mutex.unlock();
}

TEST_CASE("a_recursive_mutex_whose_keys_were_deleted_is_not_locked_again") {
  TwoClients f;
  RecursiveMutex mutex{f.locks, "r"};
  mutex.lock();
  const std::string owner = mutex.lease()->owner_value();
  (void)mutex.lease()->stop_token();  // watches the lease
  REQUIRE(eventually([&] {
    f.servers.command({"DEL", "r"});
    return !mutex.lease()->valid();
  }));
  CHECK(error_of([&] { mutex.lock(); }).code() == Errc::lost);
  const auto successor = f.others.try_lock_for("r", 20s);
  REQUIRE(successor);
  mutex.unlock();
  CHECK(mutex.last_release() == Release::already_lost);
  CHECK(f.servers.holding("r", successor->owner_value()) >= 2);
}

TEST_CASE("std_lock_locks_two_recursive_mutexes_again_in_any_order") {
  TwoClients f;
  RecursiveMutex a{f.locks, "a", {.ttl = 20s}};
  RecursiveMutex b{f.locks, "b", {.ttl = 20s}};
  int counter = 0;
  const auto add = [&counter](RecursiveMutex& one, RecursiveMutex& two) {
    for (int i = 0; i < 5; ++i) {
      const std::scoped_lock both{one, two};
      const std::scoped_lock again{two, one};
      ++counter;
    }
  };
  std::thread thread{[&] { add(b, a); }};
  add(a, b);
  thread.join();
  CHECK(counter == 10);
}

TEST_CASE("threads_of_recursive_mutexes_exclude_each_other_at_every_level") {
  TwoClients f;
  RecursiveMutex mutex{f.locks, "r", {.ttl = 20s}};
  RecursiveMutex elsewhere{f.others, "r", {.ttl = 20s}};
  int counter = 0;  // protected by the lock on the servers
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      RecursiveMutex& mine = thread % 2 == 0 ? mutex : elsewhere;
      for (int i = 0; i < 10; ++i) {
        const std::scoped_lock outer{mine};
        { const std::scoped_lock inner{mine}; }
        const int read = counter;
        std::this_thread::yield();
        counter = read + 1;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(counter == 80);
}
