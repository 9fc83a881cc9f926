// SharedMutex with the guards of the standard library, and with a lock on real servers.
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "integration/support/measure.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::SharedMutex;

/// Runs the call on a thread of its own.
template <class Call>
auto elsewhere(Call&& call) {
  return std::async(std::launch::async, std::forward<Call>(call)).get();
}

}  // namespace

TEST_CASE("shared_locks_of_several_mutexes_hold_the_lock_together") {
  TwoClients f;
  SharedMutex one{f.locks, "r"};
  SharedMutex other{f.others, "r"};
  CHECK(one.lease() == nullptr);
  {
    const std::shared_lock mine{one};
    const std::shared_lock its{other};
    REQUIRE(one.lease() != nullptr);
    CHECK(one.lease()->sequencer().is_shared());
    CHECK(one.lease()->valid());
    CHECK(other.lease()->valid());
    CHECK(one.lease()->owner_value() != other.lease()->owner_value());
    CHECK(f.others.try_lock("r").is_held());
  }
  CHECK(one.lease() == nullptr);
  CHECK(eventually([&] { return f.servers.empty() == 3; }));
}

TEST_CASE("guards_support_every_operation_of_a_shared_timed_mutex") {
  TwoClients f;
  SharedMutex mutex{f.locks, "r", {.ttl = 20s}};
  std::shared_lock reader{mutex, std::defer_lock};
  CHECK(reader.try_lock());
  reader.unlock();
  reader.lock();
  reader.unlock();
  CHECK(reader.try_lock_for(20s));
  reader.unlock();
  CHECK(reader.try_lock_until(std::chrono::steady_clock::now() + 20s));
  CHECK(f.others.try_lock("r").is_held());
  reader.unlock();
  std::unique_lock writer{mutex, std::defer_lock};
  CHECK(writer.try_lock_for(20s));
  CHECK(f.others.try_lock("r", {.shared = true}).is_held());
  CHECK_FALSE(mutex.lease()->sequencer().is_shared());
  writer.unlock();
  writer.lock();
  writer.unlock();
  CHECK(writer.try_lock_until(std::chrono::system_clock::now() + 20s));
  std::unique_lock moved{std::move(writer)};
  moved.unlock();
  { const std::scoped_lock scoped{mutex}; }
  CHECK(eventually([&] { return f.servers.empty() == 3; }));
}

TEST_CASE("a_shared_mutex_that_others_have_is_not_locked_by_attempts") {
  TwoClients f;
  SharedMutex mutex{f.locks, "r", {.ttl = 20s}};
  SharedMutex other{f.others, "r", {.ttl = 20s}};
  std::unique_lock writer{other};
  CHECK_FALSE(mutex.try_lock());
  CHECK_FALSE(mutex.try_lock_shared());
  CHECK_FALSE(mutex.try_lock_shared_for(30ms));
  CHECK_FALSE(mutex.try_lock_for(30ms));
  writer.unlock();
  REQUIRE(eventually([&] { return other.try_lock_shared(); }));
  CHECK_FALSE(mutex.try_lock());
  CHECK_FALSE(mutex.try_lock_for(30ms));
  CHECK(eventually([&] { return mutex.try_lock_shared(); }));
  mutex.unlock_shared();
  other.unlock_shared();
}

TEST_CASE("who_has_locked_a_shared_mutex_does_not_lock_it_again") {
  TwoClients f;
  SharedMutex mutex{f.locks, "r"};
  const auto is_refused = [&](auto&& call) { return error_of(call).code(); };
  const bool by_reader = GENERATE(true, false);
  by_reader ? mutex.lock_shared() : mutex.lock();
  const std::string owner = mutex.lease()->owner_value();
  const auto deadlock = std::make_error_code(std::errc::resource_deadlock_would_occur);
  CHECK(is_refused([&] { mutex.lock(); }) == deadlock);
  CHECK(is_refused([&] { (void)mutex.try_lock(); }) == deadlock);
  CHECK(is_refused([&] { (void)mutex.try_lock_for(1s); }) == deadlock);
  CHECK(is_refused([&] { (void)mutex.try_lock_until(std::chrono::steady_clock::now()); }) == deadlock);
  CHECK(is_refused([&] { mutex.lock_shared(); }) == deadlock);
  CHECK(is_refused([&] { (void)mutex.try_lock_shared(); }) == deadlock);
  CHECK(is_refused([&] { (void)mutex.try_lock_shared_for(1s); }) == deadlock);
  CHECK(is_refused([&] { (void)mutex.try_lock_shared_until(std::chrono::steady_clock::now()); }) == deadlock);
  const auto says = [](auto&& call) { return std::string{error_of(call).what()}; };
  CHECK_THAT(says([&] { mutex.lock(); }),
             Catch::Matchers::EndsWith(
                 by_reader ? "this thread already holds a shared lock on the shared mutex r; it cannot lock "
                             "again, and a shared lock cannot be upgraded to an exclusive one"
                           : "this thread already holds the exclusive lock on the shared mutex r"));
  const auto not_permitted = std::make_error_code(std::errc::operation_not_permitted);
  if (by_reader) {
    CHECK(is_refused([&] { mutex.unlock(); }) == not_permitted);
    CHECK_THAT(says([&] { mutex.unlock(); }),
               Catch::Matchers::EndsWith(
                   "this thread holds a shared lock on the shared mutex r; unlock_shared releases it"));
    CHECK(is_refused([&] { mutex.unlock_and_lock_shared(); }) == not_permitted);
    CHECK_THAT(
        says([&] { mutex.unlock_and_lock_shared(); }),
        Catch::Matchers::EndsWith("this thread does not hold the exclusive lock on the shared mutex r"));
  } else {
    CHECK(is_refused([&] { mutex.unlock_shared(); }) == not_permitted);
    CHECK_THAT(says([&] { mutex.unlock_shared(); }),
               Catch::Matchers::EndsWith("this thread holds no shared lock on the shared mutex r"));
  }
  REQUIRE(mutex.lease() != nullptr);
  CHECK(mutex.lease()->owner_value() == owner);
  CHECK(mutex.lease()->valid());
  by_reader ? mutex.unlock_shared() : mutex.unlock();
}

TEST_CASE("nobody_unlocks_a_shared_mutex_that_another_thread_has_locked") {
  TwoClients f;
  SharedMutex mutex{f.locks, "r"};
  const auto is_refused = [&](auto&& call) {
    return error_of(call).code() == std::make_error_code(std::errc::operation_not_permitted);
  };
  const auto check = [&] {
    CHECK(is_refused([&] { mutex.unlock(); }));
    CHECK_THAT(error_of([&] { mutex.unlock(); }).what(),
               Catch::Matchers::EndsWith("this thread holds no lock on the shared mutex r"));
    CHECK(is_refused([&] { mutex.unlock_shared(); }));
    CHECK(is_refused([&] { mutex.unlock_and_lock_shared(); }));
    CHECK(mutex.lease() == nullptr);
  };
  check();
  mutex.lock_shared();
  elsewhere(check);
  mutex.unlock_shared();
  mutex.lock();
  elsewhere(check);
  mutex.unlock();
  check();
}

TEST_CASE("threads_of_one_shared_mutex_share_a_lease_that_the_last_of_them_releases") {
  TwoClients f;
  SharedMutex mutex{f.locks, "r", {.ttl = 60s}};
  mutex.lock_shared();
  const std::string owner = mutex.lease()->owner_value();
  REQUIRE(eventually([&] { return f.servers.having("r") == 3; }));
  const auto scripts = f.servers.calls("evalsha");
  elsewhere([&] {
    const std::shared_lock joined{mutex};
    CHECK(mutex.lease()->owner_value() == owner);
  });
  CHECK(f.servers.calls("evalsha") == scripts);
  CHECK(f.servers.having("r") == 3);
  elsewhere([&] { CHECK_FALSE(mutex.try_lock()); });
  mutex.unlock_shared();
  CHECK(eventually([&] { return f.servers.empty() == 3; }));
}

TEST_CASE("a_thread_does_not_join_a_lease_that_is_due_for_renewal") {
  TwoClients f;
  SharedMutex mutex{f.locks, "r", {.ttl = 300ms}};
  mutex.lock_shared();
  const std::string owner = mutex.lease()->owner_value();
  CHECK(eventually([&] {
    return elsewhere([&] {
      const std::shared_lock later{mutex};
      return mutex.lease()->owner_value() != owner;
    });
  }));
  CHECK(mutex.lease()->owner_value() == owner);
  mutex.unlock_shared();
}

TEST_CASE("a_thread_does_not_join_a_lease_that_took_more_than_a_third_of_its_ttl_to_acquire") {
  const LocalNodes nodes{3};
  Proxies slow{nodes};
  redlock::Redlock locks{slow.endpoints(), {.node_timeout = 1s}};
  REQUIRE(locks.try_lock("another").value().valid());  // all are connected
  SharedMutex mutex{locks, "r", {.ttl = 1s, .renewal = redlock::Renewal::none}};
  slow.set_delay(0ms, 400ms);
  mutex.lock_shared();
  slow.set_delay(0ms, 0ms);
  const std::string owner = mutex.lease()->owner_value();
  elsewhere([&] {
    const std::shared_lock later{mutex};
    CHECK(mutex.lease()->owner_value() != owner);
  });
  mutex.unlock_shared();
}

TEST_CASE("std_lock_locks_a_shared_mutex_and_another_one_in_any_order") {
  TwoClients f;
  SharedMutex a{f.locks, "a", {.ttl = 20s}};
  redlock::Mutex b{f.others, "b", {.ttl = 20s}};
  SharedMutex a_elsewhere{f.others, "a", {.ttl = 20s}};
  redlock::Mutex b_elsewhere{f.locks, "b", {.ttl = 20s}};
  std::atomic<int> counter{0};
  const auto add = [&counter](auto& one, auto& two) {
    for (int i = 0; i < 10; ++i) {
      const std::scoped_lock both{one, two};
      counter = counter + 1;  // not atomic as a whole: protected only by the locks on the servers
    }
  };
  std::thread thread{[&] { add(b_elsewhere, a_elsewhere); }};
  add(a, b);
  thread.join();
  std::shared_lock reader{a, std::defer_lock};
  std::unique_lock writer{b, std::defer_lock};
  std::lock(reader, writer);
  CHECK(reader.owns_lock());
  CHECK(writer.owns_lock());
  CHECK(counter == 20);
}

TEST_CASE("a_reader_of_a_shared_mutex_never_sees_a_number_that_a_writer_is_changing") {
  TwoClients f;
  SharedMutex here{f.locks, "r", {.ttl = 20s}};
  SharedMutex there{f.others, "r", {.ttl = 20s}};
  std::atomic<int> first = 0;
  std::atomic<int> second = 0;
  std::atomic<int> torn = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number)
    threads.emplace_back([&, number] {
      SharedMutex& mutex = number % 2 == 0 ? here : there;
      for (int round = 0; round < 8; ++round)
        if (number < 2) {
          const std::unique_lock writer{mutex};
          first = first + 1;
          std::this_thread::sleep_for(1ms);
          second = second + 1;
        } else {
          const std::shared_lock reader{mutex};
          const int seen = second;
          std::this_thread::sleep_for(1ms);
          if (first != seen) ++torn;
        }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(torn == 0);
  CHECK(first == 16);
  CHECK(second == 16);
}

TEST_CASE("the_options_of_a_shared_mutex_hold_for_both_sides_except_at_least") {
  TwoClients f;
  SharedMutex mutex{f.locks, "r", {.ttl = 20s, .at_least = 20s, .shared = true, .label = "mine"}};
  mutex.lock_shared();
  CHECK(f.others.try_lock("r").holder()->is_shared());
  mutex.unlock_shared();
  CHECK(eventually([&] { return f.servers.empty() == 3; }));  // not kept
  mutex.lock();
  CHECK(f.others.try_lock("r").holder()->label == "mine");
  CHECK(error_of([&] { mutex.unlock_and_lock_shared(); }).code() == redlock::Errc::invalid_argument);
  CHECK(mutex.lease()->valid());
  mutex.unlock();
  // The last node may still have the writer's value when a majority keeps the lock.
  CHECK(eventually([&] {
    const auto holder = f.others.try_lock("r").holder();
    return holder && holder->is_kept();
  }));
  SharedMutex unfenced{f.locks, "unfenced", {.fencing = false}};
  { const std::unique_lock writer{unfenced}; }
  CHECK(error_of([&] { unfenced.lock_shared(); }).code() == redlock::Errc::invalid_argument);
}

TEST_CASE("a_writer_of_a_shared_mutex_becomes_a_reader_beside_others") {
  TwoClients f;
  SharedMutex mutex{f.locks, "r", {.ttl = 20s}};
  SharedMutex other{f.others, "r", {.ttl = 20s}};
  mutex.lock();
  const auto token = mutex.lease()->fencing_token();
  mutex.unlock_and_lock_shared();
  REQUIRE(mutex.lease() != nullptr);
  CHECK(mutex.lease()->sequencer().is_shared());
  CHECK(mutex.lease()->fencing_token() > token);
  CHECK_FALSE(other.try_lock());
  CHECK(other.try_lock_shared_for(20s));
  other.unlock_shared();
  elsewhere([&] { const std::shared_lock joined{mutex}; });
  mutex.unlock_shared();
  CHECK(eventually([&] { return f.servers.empty() == 3; }));
}

TEST_CASE("a_writer_whose_lock_was_lost_becomes_no_reader_and_has_not_locked_the_mutex") {
  TwoClients f;
  SharedMutex mutex{f.locks, "r", {.ttl = 300ms, .renewal = redlock::Renewal::none}};
  mutex.lock();
  REQUIRE(mutex.lease()->wait_lost(20s));
  CHECK(error_of([&] { mutex.unlock_and_lock_shared(); }).code() == redlock::Errc::lost);
  CHECK(mutex.lease() == nullptr);
  CHECK(error_of([&] { mutex.unlock(); }).code() == std::make_error_code(std::errc::operation_not_permitted));
  CHECK(mutex.try_lock_for(20s));
  mutex.unlock();
}
