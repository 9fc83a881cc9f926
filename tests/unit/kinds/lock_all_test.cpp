// Several locks at once, without servers.
#include <array>
#include <chrono>
#include <redlock/redlock.hpp>
#include <redlock/testing/fake_locks.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.hpp"

using namespace redlock;
using namespace std::chrono_literals;
using testing::FakeLocks;

namespace {

const LockOptions short_lived{.ttl = 10s, .renewal = Renewal::none};

std::string refusal(FakeLocks& locks, const std::vector<std::string_view>& resources,
                    const LockOptions& options = {}) {
  const LockAllResult result = locks.try_lock_all(resources, options);
  return result.code() == Errc::invalid_argument ? result.message() : "accepted";
}

}  // namespace

TEST_CASE("several_locks_are_leases_in_the_given_order_with_a_token_each") {
  FakeLocks locks;
  const std::array<std::string_view, 3> names{"b", "c", "a"};
  LockAllResult all = locks.try_lock_all(names);
  REQUIRE(all);
  REQUIRE(all->size() == 3);
  for (std::size_t which = 0; which < 3; ++which) {
    const Lease& lease = (*all)[which];
    CHECK(lease.resource() == names[which]);
    CHECK(lease.valid());
    CHECK(lease.fencing_token().value() > 0);
    CHECK(lease.deadline() == all->deadline());
    CHECK(locks.try_lock(names[which]).is_held());
  }
  CHECK((*all)[0].owner_value() != (*all)[1].owner_value());
  CHECK(all->valid());
  CHECK(all->remaining() > 0s);
  CHECK(all->release() == Release::released);
  CHECK(all->release() == Release::released);
  CHECK_FALSE(all->valid());
  CHECK(all->remaining() == 0s);
  const LockAllResult again = locks.try_lock_all(names);
  CHECK(again.has_value());
}

TEST_CASE("several_locks_are_all_or_none") {
  FakeLocks locks;
  locks.take("b", 1h, "its holder");
  const LockAllResult none = locks.try_lock_all({"a", "b", "c"});
  CHECK(none.code() == Errc::held);
  CHECK(none.message().find("b: 2 of 3 nodes voted") != std::string::npos);
  REQUIRE(none.holder());
  CHECK(none.holder()->label == "its holder");
  const LockAllResult others = locks.try_lock_all({"a", "c"});
  CHECK(others.has_value());
}

TEST_CASE("a_call_for_no_too_many_or_the_same_resources_is_refused") {
  FakeLocks locks;
  CHECK(refusal(locks, {}).find("0 resources were given; allowed: 1 to 64") != std::string::npos);
  CHECK(refusal(locks, {"a", "b\n", "c", "b\n"}).find("the resource b\\x0a was given twice") !=
        std::string::npos);
  CHECK(refusal(locks, {"a", ""}).find("the resource") != std::string::npos);
  CHECK(refusal(locks, {"redlock:f:a"}) != "accepted");
  CHECK(refusal(locks, {"a", "b"}, {.seats = 2}).find("takes no seats") != std::string::npos);

  std::vector<std::string> names;
  for (int which = 0; which < 65; ++which) names.push_back("r" + std::to_string(which));
  std::vector<std::string_view> many{names.begin(), names.end()};
  CHECK(refusal(locks, many).find("65 resources were given") != std::string::npos);
  many.pop_back();
  const LockAllResult most = locks.try_lock_all(many);
  REQUIRE(most);
  CHECK(most->valid());
}

TEST_CASE("a_call_for_several_locks_waits_for_all_of_them") {
  FakeLocks locks;
  const auto begun = locks.now();
  locks.take("a", 10s);
  locks.take("b", 20s);
  const LockAllResult late = locks.try_lock_all_for({"b", "a", "c"}, 15s);
  CHECK(late.code() == Errc::timed_out);
  CHECK(late.message().find("b: ") != std::string::npos);
  CHECK(locks.now() - begun >= 15s);
  CHECK(locks.now() - begun < 16s);
  const LockAllResult all = locks.lock_all({"b", "a", "c"});
  REQUIRE(all);
  CHECK(all->valid());
  CHECK(locks.now() - begun >= 20s);
  CHECK(locks.now() - begun < 22s);
  const LockAllResult at_once = locks.try_lock_all_for({"d", "a"}, 0s);
  CHECK(at_once.code() == Errc::held);
}

TEST_CASE("several_locks_without_order_are_waited_for_as_well") {
  FakeLocks locks;
  locks.take("b", 10s);
  const LockAllResult all = locks.lock_all({"a", "b"}, {.order = Order::none});
  CHECK(all.has_value());
}

TEST_CASE("leases_are_valid_until_one_of_them_is_lost") {
  FakeLocks locks;
  Leases all = locks.lock_all({"a", "b", "c"}, short_lived).value();
  const Clock::time_point first = all.deadline();
  locks.advance(2s);
  CHECK(all[0].extend());
  CHECK(all[0].deadline() > first);
  CHECK(all.deadline() == first);
  locks.take("b", 1h);
  CHECK(all[1].extend() == false);
  CHECK_FALSE(all.valid());
  CHECK(all.remaining() == 0s);
  CHECK(all[0].valid());
  CHECK(all.release() == Release::already_lost);
  CHECK(all[0].release() == Release::released);
  CHECK(all[1].release() == Release::already_lost);
  const LockAllResult free = locks.try_lock_all({"a", "c"});
  CHECK(free.has_value());
}

TEST_CASE("leases_that_are_moved_assigned_or_destroyed_release_what_they_had") {
  FakeLocks locks;
  {
    Leases one = locks.lock_all({"a", "b"}).value();
    Leases moved{std::move(one)};
    CHECK(one.empty());  // NOLINT(bugprone-use-after-move)
    CHECK_FALSE(one.valid());
    CHECK(one.release() == Release::already_lost);
    CHECK(moved.valid());
    Leases other = locks.lock_all({"c", "d"}).value();
    other = std::move(moved);
    CHECK(other.valid());
    CHECK(locks.try_lock("a").is_held());
    const LockAllResult free = locks.try_lock_all({"c", "d"});
    CHECK(free.has_value());
    const Lease kept = std::move(other[0]);
    CHECK_FALSE(other.valid());
    CHECK(kept.valid());
  }
  const LockAllResult free = locks.try_lock_all({"a", "b"});
  CHECK(free.has_value());
}

TEST_CASE("several_locks_need_a_majority_and_work_without_a_minority") {
  FakeLocks locks;
  locks.set_node(0, FakeNodeState::hanging);
  {
    const LockAllResult all = locks.try_lock_all({"a", "b"});
    REQUIRE(all);
    CHECK(all->valid());
  }
  locks.set_node(1, FakeNodeState::refusing);
  const LockAllResult none = locks.try_lock_all({"a", "b"});
  CHECK(none.code() == Errc::no_quorum);
  CHECK(none.nodes().size() == 3);
  locks.shut_down();
  const LockAllResult cancelled = locks.try_lock_all({"a", "b"});
  CHECK(cancelled.code() == Errc::cancelled);
}

TEST_CASE("each_of_several_locks_is_kept_for_its_minimum_time_and_after_its_loss") {
  FakeLocks locks;
  Leases kept = locks.lock_all({"a", "b"}, {.at_least = 5s}).value();
  CHECK(kept.release() == Release::released);
  CHECK(locks.try_lock_all({"a", "c"}).code() == Errc::held);
  locks.advance(6s);
  Leases lost = locks.lock_all({"a", "b"}, {.ttl = 10s, .lock_delay = 5s, .renewal = Renewal::none}).value();
  locks.advance(11s);
  CHECK_FALSE(lost.valid());
  CHECK(lost.release() == Release::already_lost);
  CHECK(locks.try_lock("b").is_held());
  locks.advance(5s);
  const LockAllResult free = locks.try_lock_all({"a", "b"});
  CHECK(free.has_value());
}

TEST_CASE("leases_that_were_acquired_one_by_one_can_be_kept_together") {
  FakeLocks locks;
  std::vector<Lease> several;
  several.push_back(locks.lock("gpu", {.ttl = 20s, .seats = 2}).value());
  several.push_back(locks.lock("a", short_lived).value());
  Leases all{std::move(several)};
  CHECK(all.valid());
  CHECK(all.deadline() == all[1].deadline());
  const Lease moved = std::move(all[0]);
  CHECK(all.release() == Release::already_lost);  // one of them is gone
  CHECK(all[1].release() == Release::released);
  CHECK(moved.valid());
}
