// Revocation on nodes in memory.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "redlock/testing/fake_locks.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;
using redlock::Lease;
using redlock::LockOptions;
using redlock::testing::FakeLocks;

namespace {

LockOptions record(std::vector<std::string>& reasons) {
  return {.ttl = 10s, .on_revoke = [&reasons](std::string_view why) { reasons.emplace_back(why); }};
}

}  // namespace

TEST_CASE("the_holder_of_a_fake_lock_is_asked_once") {
  FakeLocks locks;
  std::vector<std::string> reasons;
  Lease lease = locks.try_lock("r", record(reasons)).value();
  locks.advance(1s);
  CHECK(reasons.empty());
  locks.revoke("r", "first");
  locks.advance(1ms);
  CHECK(reasons == std::vector<std::string>{"first"});
  locks.revoke("r", "again");
  locks.advance(30s);
  CHECK(reasons.size() == 1);
  CHECK(lease.valid());
}

TEST_CASE("a_fake_lock_that_was_released_asks_nobody_and_its_next_holder_is_not_asked") {
  FakeLocks locks;
  std::vector<std::string> reasons;
  Lease lease = locks.try_lock("r", {.ttl = 10s}).value();
  locks.revoke("r", "for the first holder");
  lease.release();
  const Lease next = locks.try_lock("r", record(reasons)).value();
  locks.advance(30s);
  CHECK(reasons.empty());
  CHECK(next.valid());
}

TEST_CASE("the_callback_of_a_fake_lock_may_release_it") {
  FakeLocks locks;
  std::optional<Lease> lease;
  lease = locks.try_lock("r", {.on_revoke = [&](std::string_view) { lease.reset(); }}).value();
  locks.revoke("r");
  locks.advance(10ms);
  CHECK_FALSE(lease);
  CHECK_FALSE(locks.try_lock("r").code());
}

TEST_CASE("a_fake_lock_is_broken_for_the_holder_that_is_named_and_for_no_other") {
  FakeLocks locks;
  const Lease lease = locks.try_lock("r", {.ttl = 10s}).value();
  locks.break_lock("r", std::string(40, '0'));
  locks.advance(1ms);
  CHECK(lease.valid());
  locks.break_lock("r", lease.owner_value());
  CHECK_FALSE(locks.try_lock("r").code());
}
