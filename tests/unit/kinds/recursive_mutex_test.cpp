// RecursiveMutex, and the misuse of Mutex, without servers.
#include <chrono>
#include <mutex>
#include <redlock/redlock.hpp>
#include <redlock/testing/fake_locks.hpp>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace redlock;
using namespace std::chrono_literals;
using testing::FakeLocks;

namespace {

struct Refusal {
  std::error_code code;
  std::string text;
};

/// The Error that the call throws.
template <class Call>
Refusal refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

const LockOptions short_lived{.ttl = 1s, .renewal = Renewal::none};

}  // namespace

TEST_CASE("a_thread_locks_a_recursive_mutex_again_with_the_same_lease_and_token") {
  FakeLocks locks;
  RecursiveMutex mutex{locks, "r"};
  const std::unique_lock outer{mutex};
  const Lease* const lease = mutex.lease();
  const std::string owner = lease->owner_value();
  const FencingToken token = lease->fencing_token();
  for (int node = 0; node < 3; ++node) locks.set_node(node, FakeNodeState::refusing);  // no I/O
  {
    const std::unique_lock tried{mutex, std::try_to_lock};
    REQUIRE(tried.owns_lock());  // the next call would wait for ever
    const std::scoped_lock inner{mutex};
    const std::unique_lock timed{mutex, 1s};
    const std::unique_lock by_clock{mutex, std::chrono::system_clock::now() - 1h};
    CHECK((timed && by_clock));
    CHECK(mutex.lease() == lease);
    CHECK(lease->owner_value() == owner);
    CHECK(lease->fencing_token() == token);
  }
  CHECK(lease->valid());
  CHECK(mutex.last_release() == Release::unknown);
}

TEST_CASE("only_the_last_unlock_releases_a_recursive_mutex") {
  FakeLocks locks;
  RecursiveMutex mutex{locks, "r"};
  for (int level = 0; level < 3; ++level) mutex.lock();
  for (int level = 0; level < 2; ++level) {
    mutex.unlock();
    CHECK(locks.try_lock("r").is_held());
    CHECK(mutex.last_release() == Release::unknown);
  }
  mutex.unlock();
  CHECK(mutex.last_release() == Release::released);
  CHECK(mutex.lease() == nullptr);
  const LockResult other = locks.try_lock("r");
  CHECK(other.has_value());
}

TEST_CASE("a_recursive_mutex_refuses_more_levels_than_its_limit") {
  FakeLocks locks;
  RecursiveMutex mutex{locks, "r", {}, 2};
  mutex.lock();
  CHECK(mutex.try_lock());
  const Refusal refused = refusal([&] { mutex.lock(); });
  CHECK(refused.code == std::errc::resource_unavailable_try_again);
  CHECK(refused.text.find("2 times") != std::string::npos);
  CHECK_FALSE(mutex.try_lock());
  CHECK_FALSE(mutex.try_lock_for(1h));
  CHECK_FALSE(mutex.try_lock_until(std::chrono::steady_clock::now() + 1h));
  mutex.unlock();
  CHECK(mutex.try_lock());
  mutex.unlock();
  mutex.unlock();  // the refused calls have locked nothing
  CHECK(mutex.last_release() == Release::released);

  RecursiveMutex none{locks, "r", {}, 0};
  CHECK(refusal([&] { none.lock(); }).code == Errc::invalid_argument);
  CHECK(refusal([&] { (void)none.try_lock(); }).code == Errc::invalid_argument);
}

TEST_CASE("a_recursive_mutex_refuses_to_be_locked_again_after_its_loss_until_it_is_unlocked") {
  FakeLocks locks;
  RecursiveMutex mutex{locks, "r", short_lived, 2};
  mutex.lock();
  mutex.lock();
  const FencingToken lost = mutex.lease()->fencing_token();
  locks.advance(1s);
  const Refusal refused = refusal([&] { mutex.lock(); });
  CHECK(refused.code == Errc::lost);
  CHECK(refused.text.find(to_string(Loss::deadline_passed)) != std::string::npos);
  CHECK(refusal([&] { (void)mutex.try_lock(); }).code == Errc::lost);
  CHECK(refusal([&] { (void)mutex.try_lock_for(1s); }).code == Errc::lost);
  CHECK(refusal([&] { (void)mutex.try_lock_until(std::chrono::steady_clock::now()); }).code == Errc::lost);
  std::thread{[&] { CHECK_FALSE(mutex.try_lock()); }}.join();
  mutex.unlock();
  CHECK(refusal([&] { mutex.lock(); }).code == Errc::lost);
  mutex.unlock();
  CHECK(mutex.last_release() == Release::already_lost);
  mutex.lock();
  CHECK(mutex.lease()->fencing_token() > lost);
  mutex.unlock();
  CHECK(mutex.last_release() == Release::released);
}

TEST_CASE("a_failed_first_lock_leaves_a_recursive_mutex_unlocked") {
  FakeLocks locks;
  RecursiveMutex mutex{locks, "r"};
  const LockResult other = locks.try_lock("r");
  CHECK_FALSE(mutex.try_lock());
  CHECK_FALSE(mutex.try_lock_for(1s));
  CHECK(mutex.lease() == nullptr);
  CHECK(refusal([&] { mutex.unlock(); }).code == std::errc::operation_not_permitted);
  RecursiveMutex bad{locks, ""};
  CHECK(refusal([&] { bad.lock(); }).code == Errc::invalid_argument);
  CHECK(refusal([&] { bad.unlock(); }).code == std::errc::operation_not_permitted);
}

TEST_CASE("a_mutex_refuses_to_be_unlocked_by_a_thread_that_has_not_locked_it") {
  FakeLocks locks;
  Mutex plain{locks, "plain"};
  RecursiveMutex recursive{locks, "recursive"};
  const auto check = [](auto& mutex) {
    const auto is_refused = [&mutex] {
      return refusal([&] { mutex.unlock(); }).code == std::errc::operation_not_permitted;
    };
    CHECK(is_refused());  // never locked
    const std::string text = refusal([&mutex] { mutex.unlock(); }).text;
    CHECK(text.find("this thread has not locked the mutex of ") != std::string::npos);
    mutex.lock();
    std::thread{[&] { CHECK(is_refused()); }}.join();
    CHECK(mutex.lease()->valid());
    mutex.unlock();
    CHECK(is_refused());  // unlocked too often
    CHECK(mutex.last_release() == Release::released);
  };
  check(plain);
  check(recursive);
}

TEST_CASE("a_plain_mutex_says_that_its_thread_has_locked_it_already") {
  FakeLocks locks;
  Mutex mutex{locks, "r\n"};
  mutex.lock();
  const Refusal refused = refusal([&] { mutex.lock(); });
  CHECK(refused.code == std::errc::resource_deadlock_would_occur);
  CHECK(refused.text.find("r\\x0a; RecursiveMutex") != std::string::npos);
  const auto code_of_try = [&](const auto& attempt) { return refusal([&] { (void)attempt(); }).code; };
  CHECK(code_of_try([&] { return mutex.try_lock(); }) == std::errc::resource_deadlock_would_occur);
  CHECK(code_of_try([&] { return mutex.try_lock_for(1h); }) == std::errc::resource_deadlock_would_occur);
  CHECK(code_of_try([&] { return mutex.try_lock_until(std::chrono::steady_clock::now() + 1h); }) ==
        std::errc::resource_deadlock_would_occur);
  CHECK(mutex.lease()->valid());
  mutex.unlock();  // the refused calls have locked nothing
  CHECK(mutex.last_release() == Release::released);
}
