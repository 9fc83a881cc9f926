// Children of fork(), which have the parent's memory and descriptors but none of its threads.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "os/pause.hpp"
#include "redlock/error.hpp"
#include "redlock/kinds/recursive_mutex.hpp"
#include "redlock/kinds/semaphore.hpp"
#include "redlock/kinds/shared_mutex.hpp"
#include "redlock/mutex.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/own_process.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::Lease;
using redlock::Release;

/// The thread sanitizer refuses threads in children of processes with threads unless it is told that we mean
/// it.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }  // NOLINT

namespace {

const redlock::LockOptions lasting{.ttl = 60s};
/// A busy machine is no reason for an attempt to fail here.
redlock::Options patient() {
  redlock::Options options;
  options.connect_timeout = 60s;
  options.node_timeout = 60s;
  return options;
}

constexpr int fine = 17;  // an exit code that nothing else returns by accident

/// The call throws that the client is of no use in this process.
template <class Call>
bool is_invalid(const Call& call) {
  try {
    call();
    return false;
  } catch (const redlock::Error& error) {
    return error.code() == Errc::invalid_argument;
  }
}

/// Locks a mutex in one thread, forks in another, and calls what locks in the child. Returns the exit code of the child.
template <class AnyMutex>
int child_that_locks(AnyMutex& mutex) {
  std::promise<void> is_locked;
  std::promise<void> may_end;
  const auto holder = std::async(std::launch::async, [&] {
    mutex.lock();
    is_locked.set_value();
    may_end.get_future().wait();
    mutex.unlock();
  });
  is_locked.get_future().wait();
  const int code = in_child([&] {
    if (!is_invalid([&] { mutex.lock(); })) return 1;
    if (!is_invalid([&] { return mutex.try_lock(); })) return 2;
    return is_invalid([&] { return mutex.try_lock_for(1h); }) ? fine : 3;
  });
  may_end.set_value();
  return code;
}

/// Commands and connections that the servers have seen, ours here not included.
struct Traffic {
  explicit Traffic(Observers& servers)
      : releases{servers.calls("evalsha")}, sets{servers.attempts()}, connections{0} {
    for (RawClient& server : servers) connections += std::stoull(*server.info("total_connections_received"));
  }
  std::uint64_t releases;
  std::uint64_t sets;
  std::uint64_t connections;
  bool operator==(const Traffic&) const = default;
};

bool is_refused(InspectableLock& locks) {
  const redlock::LockResult result = locks.try_lock("other", lasting);
  return result.code() == Errc::invalid_argument && result.message().find("fork") != std::string::npos;
}

/// In a child of fork() a thread gets the stack of one that only the parent has, and the thread sanitizer takes one for the
/// other, and ends the child. A larger stack is a new one.
void use_new_stacks() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{16} << 20U);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

/// Forks so many times; each child finds the client of no use, and destroys its copy.
int children_that_are_fine(int forks, std::optional<InspectableLock>& locks) {
  int count = 0;
  for (int round = 0; round < forks; ++round)
    count += in_child([&] {
               if (!is_refused(*locks)) return 1;
               locks.reset();
               return fine;
             }) == fine;
  return count;
}

}  // namespace

TEST_CASE("a_child_can_neither_use_nor_harm_its_parents_client") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  std::optional<InspectableLock> locks{endpoints(nodes)};
  reach_all(*locks, servers);
  // Not watched: that would make more connections.
  Lease lease = locks->lock("resource", {.ttl = 60s, .renewal = redlock::Renewal::none}).value();
  REQUIRE(eventually([&] { return servers.having("resource") == 3; }));
  const Traffic before{servers};

  const int code = in_child([&] {
    if (!is_refused(*locks)) return 1;
    std::error_code ec;
    if (lease.extend(ec) || ec != Errc::invalid_argument) return 2;
    if (lease.release() != Release::unknown) return 3;
    lease = {};
    locks.reset();
    return fine;
  });
  CHECK(code == fine);
  CHECK(Traffic{servers} == before);
  CHECK(servers.holding("resource", lease.owner_value()) == 3);

  CHECK(lease.extend());
  CHECK(lease.release() == Release::released);
  CHECK(is_granted(locks->try_lock("resource", lasting)));
  CHECK(Traffic{servers}.connections == before.connections);
}

TEST_CASE("a_lease_destroyed_in_a_child_still_belongs_to_the_parent") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  InspectableLock locks{endpoints(nodes)};
  reach_all(locks, servers);
  Lease lease = locks.lock("resource", lasting).value();
  REQUIRE(eventually([&] { return servers.having("resource") == 3; }));
  CHECK(in_child([&] {
          lease = {};
          return fine;
        }) == fine);
  CHECK(servers.holding("resource", lease.owner_value()) == 3);
  CHECK(lease.release() == Release::released);
}

TEST_CASE("a_child_does_not_have_its_parents_recursive_mutex") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  InspectableLock locks{endpoints(nodes)};
  redlock::RecursiveMutex mutex{locks, "resource", {.ttl = 60s, .renewal = redlock::Renewal::none}};
  mutex.lock();
  const std::string owner = mutex.lease()->owner_value();
  REQUIRE(eventually([&] { return servers.having("resource") == 3; }));
  CHECK(in_child([&] {
          try {
            mutex.lock();
            return 1;
          } catch (const redlock::Error& error) {
            if (error.code() != Errc::invalid_argument) return 2;
          }
          mutex.unlock();
          return mutex.last_release() == Release::unknown ? fine : 3;
        }) == fine);
  CHECK(servers.holding("resource", owner) == 3);
  mutex.unlock();
  CHECK(mutex.last_release() == Release::released);
}

TEST_CASE("a_child_does_not_join_the_readers_of_its_parent") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  InspectableLock locks{endpoints(nodes)};
  redlock::SharedMutex mutex{locks, "resource", {.ttl = 60s, .renewal = redlock::Renewal::none}};
  std::promise<void> may_end;
  std::promise<std::string> owner;
  const auto reader = std::async(std::launch::async, [&] {
    mutex.lock_shared();
    owner.set_value(mutex.lease()->owner_value());
    may_end.get_future().wait();
    mutex.unlock_shared();
  });
  const std::string key = "redlock:s:{resource}:" + owner.get_future().get().substr(0, 16);
  REQUIRE(eventually([&] { return servers.having(key) == 3; }));
  CHECK(in_child([&] {
          if (!is_invalid([&] { mutex.lock_shared(); })) return 1;
          if (!is_invalid([&] { return mutex.try_lock_shared(); })) return 2;
          return is_invalid([&] { mutex.lock(); }) && !mutex.lease() ? fine : 3;
        }) == fine);
  CHECK(servers.having(key) == 3);
  may_end.set_value();
}

TEST_CASE("a_child_does_not_wait_for_a_thread_of_its_parent_that_has_locked_a_mutex") {
  LocalNodes nodes{3};
  InspectableLock locks{endpoints(nodes)};
  const redlock::LockOptions options{.ttl = 60s, .renewal = redlock::Renewal::none};
  redlock::Mutex mutex{locks, "mutex", options};
  redlock::RecursiveMutex recursive_mutex{locks, "recursive mutex", options};
  redlock::SharedMutex shared_mutex{locks, "shared mutex", options};
  CHECK(child_that_locks(mutex) == fine);
  CHECK(child_that_locks(recursive_mutex) == fine);
  CHECK(child_that_locks(shared_mutex) == fine);
}

TEST_CASE("a_child_ends_although_a_thread_of_its_parent_waits_for_the_mutex_that_it_has_locked") {
  LocalNodes nodes{3};
  InspectableLock locks{endpoints(nodes)};
  std::optional<redlock::Mutex> mutex{std::in_place, locks, "mutex"};
  mutex->lock();
  std::promise<pid_t> id;
  std::jthread waiting{[&] {
    id.set_value(::gettid());
    const std::scoped_lock lock{*mutex};
  }};
  const pid_t begun = id.get_future().get();
  REQUIRE(eventually([&] { return status_of(begun, "State").starts_with('S'); }));
  CHECK(in_child([&] {
          mutex->unlock();
          if (mutex->last_release() != Release::unknown) return 1;
          mutex.reset();
          return fine;
        }) == fine);
  mutex->unlock();
}

// A thread that is in the middle of a call of the same object has its mutex in the child for ever.
TEST_CASE("a_child_returns_what_other_threads_of_its_parent_are_using") {
  LocalNodes nodes{3};
  InspectableLock locks{endpoints(nodes), patient()};
  redlock::Semaphore semaphore{locks, "semaphore", 4, {.ttl = 60s, .renewal = redlock::Renewal::none}};
  redlock::SharedMutex shared_mutex{locks, "shared mutex", {.ttl = 60s, .renewal = redlock::Renewal::none}};
  semaphore.acquire();
  shared_mutex.lock_shared();
  std::atomic<bool> over{false};
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 2; ++caller)
    callers.emplace_back([&] {
      while (!over) static_cast<void>(semaphore.permits());
    });
  for (int caller = 0; caller < 2; ++caller)
    callers.emplace_back([&] {
      while (!over) static_cast<void>(shared_mutex.lease());
    });
  int children = 0;
  for (int round = 0; round < 15 && children == round; ++round)
    children += in_child([&] {
                  static_cast<void>(semaphore.permits());
                  if (semaphore.release() != Release::unknown) return 1;
                  static_cast<void>(shared_mutex.lease());
                  shared_mutex.unlock_shared();
                  return fine;
                }) == fine;
  over = true;
  callers.clear();
  CHECK(children == 15);
  CHECK(semaphore.release() == Release::released);
  shared_mutex.unlock_shared();
}

TEST_CASE("a_child_of_the_thread_that_has_locked_a_mutex_is_told_of_the_fork") {
  LocalNodes nodes{3};
  InspectableLock locks{endpoints(nodes)};
  redlock::Mutex mutex{locks, "mutex"};
  redlock::SharedMutex shared_mutex{locks, "shared mutex"};
  const std::scoped_lock both{mutex, shared_mutex};
  CHECK(in_child([&] {
          if (!is_invalid([&] { mutex.lock(); })) return 1;
          if (!is_invalid([&] { shared_mutex.lock(); })) return 2;
          return is_invalid([&] { shared_mutex.lock_shared(); }) ? fine : 3;
        }) == fine);
}

TEST_CASE("a_child_may_create_its_own_client") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  InspectableLock locks{endpoints(nodes)};
  reach_all(locks, servers);
  const Lease lease = locks.lock("resource", lasting).value();
  REQUIRE(eventually([&] { return servers.having("resource") == 3; }));
  std::promise<pid_t> id;
  const std::jthread other_thread{[&](const std::stop_token& stop) {
    id.set_value(::gettid());
    redlock::detail::pause_until(redlock::Clock::now() + 1h, stop);
  }};
  // A thread that begins is in the address sanitizer's allocator, whose locks no child of fork() gets free again.
  const pid_t begun = id.get_future().get();
  REQUIRE(eventually([&] { return status_of(begun, "State").starts_with('S'); }));
  for (int round = 0; round < 5; ++round) {
    CHECK(in_child([&] {
            use_new_stacks();
            InspectableLock own{endpoints(nodes)};
            if (is_granted(own.try_lock("resource"))) return 1;  // the parent has it
            auto other = own.try_lock("other", lasting);
            if (!other || !other->extend()) return 2;
            return other->release() == Release::released ? fine : 3;
          }) == fine);
  }
  CHECK(lease.valid());
  CHECK(eventually([&] { return servers.having("other") == 0; }));
  CHECK(servers.holding("resource", lease.owner_value()) == 3);
}

// At the moment of the fork other threads are anywhere, also in the middle of what the mutex guards.
TEST_CASE("a_process_may_fork_while_its_threads_lock") {
  LocalNodes nodes{3};
  std::optional<InspectableLock> locks{std::in_place, endpoints(nodes), patient()};
  std::atomic<bool> over{false};
  std::atomic<int> failures{0};
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&, name = "resource " + std::to_string(caller)] {
      while (!over) failures += is_granted(locks->try_lock(name, lasting)) ? 0 : 1;
    });
  CHECK(children_that_are_fine(100, locks) == 100);
  over = true;
  callers.clear();
  CHECK(failures == 0);
  CHECK(eventually([&] { return Observers{nodes}.empty() == 3; }));
}

// No lease keeps the client: the child is its last owner and takes it apart, as it was at that moment.
TEST_CASE("a_child_may_destroy_a_client_that_was_in_use_at_the_fork") {
  LocalNodes nodes{3};
  InspectableLock holder{endpoints(nodes)};
  const Lease lease = holder.lock("resource", lasting).value();
  std::optional<InspectableLock> locks{std::in_place, endpoints(nodes), patient()};
  std::atomic<bool> over{false};
  std::atomic<int> granted{0};
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&] {
      while (!over) granted += is_granted(locks->try_lock("resource", lasting)) ? 1 : 0;
    });
  CHECK(children_that_are_fine(200, locks) == 200);
  over = true;
  callers.clear();
  CHECK(granted == 0);
  CHECK(lease.valid());
}

TEST_CASE("a_stop_request_in_a_child_does_not_affect_the_parent") {
  LocalNodes nodes{3};
  InspectableLock locks{endpoints(nodes), patient()};
  static_cast<void>(locks.lock("warm up", lasting).value());
  nodes.pause(0);
  nodes.pause(1);
  std::stop_source stop;
  Lease lease;
  std::jthread caller{[&] { lease = locks.lock("resource", lasting, stop.get_token()).value(); }};
  REQUIRE(eventually([&] { return locks.active() == 1; }));
  CHECK(in_child([&] {
          stop.request_stop();
          return fine;
        }) == fine);
  nodes.resume(0);
  nodes.resume(1);
  caller.join();
  CHECK(lease.valid());
}
