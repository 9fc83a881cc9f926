// FakeLocks: virtual time, scripted losses and nodes. That its results are those of real nodes is the subject of
// integration/fake/conformance_test.cpp.
#include <memory>
#include <redlock/redlock.hpp>
#include <redlock/testing/fake_locks.hpp>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace redlock;
using namespace std::chrono_literals;
using testing::FakeLocks;
using testing::FakeNodeState;

namespace {

/// The code of the Error that the call throws.
template <class Call>
std::error_code refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return {};
}

}  // namespace

TEST_CASE("fake_time_moves_only_when_it_is_told_to") {
  FakeLocks locks;
  const auto begun = locks.now();
  const Lease lease = locks.try_lock("r", {.ttl = 10s, .renewal = redlock::Renewal::none}).value();
  CHECK(locks.now() == begun);
  const auto left = lease.remaining();
  const auto real_time = redlock::Clock::now();
  while (redlock::Clock::now() == real_time) {
  }
  CHECK(lease.remaining() == left);
  locks.advance(4s);
  CHECK(lease.remaining() == left - 4s);
  locks.advance(-4s);
  CHECK(locks.now() == begun + 4s);
  locks.advance(6s);
  CHECK(lease.loss() == Loss::deadline_passed);
}

TEST_CASE("a_fake_call_that_waits_moves_the_time_by_its_wait") {
  FakeLocks locks;
  const auto begun = locks.now();
  locks.take("r", 1h);
  const LockResult result = locks.try_lock_for("r", 30s);
  CHECK(result.code() == Errc::timed_out);
  CHECK(locks.now() - begun >= 30s);
  CHECK(locks.now() - begun < 31s);
  const LockResult later = locks.lock("r");
  CHECK(later.has_value());
  CHECK(locks.now() - begun > 59min);
  CHECK(locks.now() - begun < 61min);
}

TEST_CASE("fake_losses_are_reported_in_their_order_before_the_time_has_moved_on") {
  FakeLocks locks;
  std::vector<std::string> lost;
  const auto note = [&](const std::string& name) {
    return [&lost, name](Loss why) { lost.push_back(name + ": " + std::string{to_string(why)}); };
  };
  const Lease second =
      locks.try_lock("second", {.ttl = 2s, .renewal = redlock::Renewal::none, .on_lost = note("second")})
          .value();
  const Lease first =
      locks.try_lock("first", {.ttl = 1s, .renewal = redlock::Renewal::none, .on_lost = note("first")})
          .value();
  const Lease renewed = locks.try_lock("third", {.ttl = 1s, .on_lost = note("third")}).value();
  locks.advance(1h);
  const std::string late{to_string(Loss::deadline_passed)};
  CHECK(lost == std::vector<std::string>{"first: " + late, "second: " + late});
  locks.take("third", 1h);
  REQUIRE(lost.size() == 3);
  CHECK(lost.back() == "third: " + std::string{to_string(Loss::taken)});
  CHECK(renewed.loss() == Loss::taken);
}

TEST_CASE("a_renewed_fake_lease_is_watched_after_a_second") {
  FakeLocks locks;
  const Lease lease = locks.try_lock("r").value();
  const Lease asked = locks.try_lock("s").value();
  const std::stop_token stop = asked.stop_token();
  locks.advance(900ms);
  locks.take("r", 1h);
  locks.take("s", 1h);
  CHECK(lease.valid());
  CHECK(asked.loss() == Loss::taken);
  locks.advance(100ms);
  CHECK(lease.loss() == Loss::taken);
  const Lease older = locks.try_lock("t").value();
  locks.advance(1s);
  locks.lose("t");
  CHECK(older.loss() == Loss::deleted);
}

TEST_CASE("a_fake_call_ends_when_a_callback_of_that_time_stops_it") {
  FakeLocks locks;
  locks.take("held", 1h);
  std::stop_source source;
  const Lease lease =
      locks
          .try_lock("r",
                    {.ttl = 1s, .renewal = Renewal::none, .on_lost = [&](Loss) { source.request_stop(); }})
          .value();
  const auto begun = locks.now();
  CHECK(locks.lock("held", {}, source.get_token()).code() == Errc::cancelled);
  CHECK(locks.now() - begun < 2s);
  CHECK(locks.lock("held", {}, source.get_token()).code() == Errc::cancelled);
}

TEST_CASE("a_fake_loss_callback_may_use_locks_and_may_throw") {
  std::vector<std::string> warnings;
  FakeLocks locks{3, {.on_warning = [&](std::string_view warning) { warnings.emplace_back(warning); }}};
  Lease next;
  Lease lease = locks
                    .try_lock("r", {.ttl = 1s,
                                    .on_lost =
                                        [&](Loss) {
                                          next = locks.try_lock("r").value();
                                          throw std::runtime_error{"too bad"};
                                        }})
                    .value();
  const std::stop_token stop = lease.stop_token();
  CHECK_FALSE(stop.stop_requested());
  locks.lose("r");
  CHECK(stop.stop_requested());
  CHECK(next.valid());
  CHECK(next.fencing_token() > lease.fencing_token());
  CHECK(lease.release() == Release::already_lost);
  CHECK(next.valid());
  CHECK(warnings == std::vector<std::string>{"a loss callback threw: too bad"});
}

TEST_CASE("a_fake_warning_callback_that_throws_ends_neither_the_call_nor_the_reports") {
  FakeLocks locks{3, {.on_warning = [](std::string_view) { throw std::runtime_error{"worse"}; }}};
  int lost = 0;
  const LockOptions options{.on_lost = [&](Loss) {
    ++lost;
    throw std::runtime_error{"too bad"};
  }};
  const Lease first = locks.try_lock("first", options).value();
  const Lease second = locks.try_lock("second", options).value();
  CHECK_NOTHROW(locks.shut_down());
  CHECK(lost == 2);
}

TEST_CASE("a_wait_for_a_fake_loss_returns_after_the_callback_has_begun") {
  FakeLocks locks;
  Lease leases[2];
  int begun = 0;
  std::vector<int> begun_after_wait;
  for (int one = 0; one < 2; ++one) {
    const auto wait_for_other = [&, one](Loss) {
      ++begun;
      CHECK(leases[1 - one].wait_lost());
      begun_after_wait.push_back(begun);
    };
    leases[one] = locks.try_lock(std::to_string(one), {.on_lost = wait_for_other}).value();
  }
  locks.shut_down();  // both are lost at the same time
  CHECK(begun_after_wait == std::vector<int>{2, 2});
}

TEST_CASE("a_fake_client_that_a_callback_destroys_lives_until_the_call_returns") {
  auto of_client = std::make_shared<int>();
  const std::weak_ptr<int> client = of_client;
  auto locks = std::make_unique<FakeLocks>(
      3, Options{.on_warning = [held = std::move(of_client)](std::string_view) {}});
  Lease lease;
  bool is_destroyed = false;
  const auto destroy = [&](Loss) {
    is_destroyed = true;
    lease = {};
    locks.reset();
    CHECK_FALSE(client.expired());
  };
  lease = locks->try_lock("r", {.ttl = 1s, .max_hold = 5s, .on_lost = destroy}).value();
  const auto hang = [&] {
    for (const int node : {0, 1}) locks->set_node(node, FakeNodeState::hanging);
    locks->advance(900ms);
  };
  SECTION("advance") { locks->advance(6s); }
  SECTION("take") { locks->take("r", 1s); }
  SECTION("lose") { locks->lose("r"); }
  SECTION("shut_down") { locks->shut_down(); }
  SECTION("try_lock") {
    hang();
    CHECK(locks->try_lock("other").code() == Errc::no_quorum);
  }
  SECTION("try_lock_for") {
    locks->take("other", 1h);
    CHECK(locks->try_lock_for("other", 10s).code() == Errc::timed_out);
  }
  SECTION("lock") {
    locks->take("other", 10s);
    CHECK(locks->lock("other").code() == std::error_code{});
  }
  SECTION("adopt") {
    hang();
    CHECK(locks->adopt({"other", "somebody"}).code() == Errc::no_quorum);
  }
  SECTION("check") {
    hang();
    CHECK(locks->check(Sequencer::parse("redlock1;x;7;0123456789abcdef;r")) == SequencerState::unknown);
  }
  SECTION("inspect") {
    hang();
    CHECK(locks->inspect("other").size() == 3);
  }
  REQUIRE(is_destroyed);
  CHECK(client.expired());
}

TEST_CASE("a_released_fake_lease_reports_no_loss") {
  FakeLocks locks;
  bool is_lost = false;
  Lease lease = locks.try_lock("r", {.ttl = 1s, .on_lost = [&](Loss) { is_lost = true; }}).value();
  CHECK(lease.release() == Release::released);
  locks.advance(2s);
  CHECK_FALSE(is_lost);
}

TEST_CASE("a_fake_majority_that_hangs_costs_the_node_timeout_and_then_the_lease") {
  FakeLocks locks{3, {.node_timeout = 200ms}};
  const Lease lease = locks.try_lock("r", {.ttl = 3s}).value();
  locks.set_node(0, FakeNodeState::hanging);
  locks.advance(10s);
  CHECK(lease.state() == State::held);
  locks.set_node(1, FakeNodeState::hanging);
  const auto begun = locks.now();
  const LockResult failed = locks.try_lock("other");
  CHECK(failed.code() == Errc::no_quorum);
  CHECK(locks.now() - begun >= 200ms);
  CHECK(lease.wait_lost(10s));
  CHECK(lease.loss() == Loss::no_quorum);
  locks.set_node(0, FakeNodeState::working);
  locks.set_node(1, FakeNodeState::working);
  locks.advance(2s);
  CHECK(locks.try_lock("other").value().valid());
}

TEST_CASE("a_fake_call_that_waits_for_hanging_nodes_reports_the_losses_of_that_time") {
  FakeLocks locks{3, {.node_timeout = 1s}};
  std::vector<std::string> lost;
  const LockOptions brief{.ttl = 500ms, .renewal = redlock::Renewal::none};
  const Lease first = locks.try_lock("first", brief).value();
  const std::stop_token stop = first.stop_token();
  LockOptions told = brief;
  told.on_lost = [&](Loss) {
    lost.emplace_back("second");
    static_cast<void>(locks.try_lock("nested"));
  };
  const Lease second = locks.try_lock("second", told).value();
  Lease third;
  told.on_lost = [&](Loss) {
    lost.emplace_back("third");
    third.release();
  };
  told.ttl = 600ms;
  third = locks.try_lock("third", told).value();
  const Lease renewed =
      locks.try_lock("renewed", {.ttl = 1s, .on_lost = [&](Loss) { lost.emplace_back("renewed"); }}).value();
  const auto begun = locks.now();
  SECTION("a lock, if a majority hangs") {
    locks.set_node(0, FakeNodeState::hanging);
    locks.set_node(1, FakeNodeState::hanging);
    CHECK(locks.try_lock("other").code() == Errc::no_quorum);
    CHECK(lost == std::vector<std::string>{"second", "third", "renewed"});
  }
  SECTION("an inspection, if one node hangs") {
    locks.set_node(2, FakeNodeState::hanging);
    CHECK(locks.inspect("other")[2].status == NodeStatus::timed_out);
    CHECK(lost == std::vector<std::string>{"second", "third"});
    CHECK(renewed.valid());
  }
  CHECK(stop.stop_requested());
  CHECK(locks.now() - begun >= 1s);
}

TEST_CASE("a_thread_that_waits_for_a_fake_lock_gets_it_after_the_release") {
  FakeLocks locks;
  Lease held = locks.try_lock("r", {.ttl = 1s}).value();
  std::thread waiter{[&] { CHECK(locks.lock("r").value().valid()); }};
  held.release();
  waiter.join();
}

TEST_CASE("a_mutex_over_fake_locks_excludes_and_renews") {
  FakeLocks locks;
  Mutex mutex{locks, "r", {.ttl = 1s}};
  mutex.lock();
  locks.advance(1min);
  CHECK(mutex.lease()->valid());
  CHECK(locks.try_lock("r").code() == Errc::held);
  mutex.unlock();
  CHECK(mutex.last_release() == Release::released);
}

TEST_CASE("the_longest_advance_of_a_fake_ends_before_the_time_does") {
  FakeLocks locks;
  const Lease lease = locks.try_lock("r", {.ttl = 10s, .renewal = Renewal::none}).value();
  locks.advance(std::chrono::hours::max());
  CHECK(locks.now() < Clock::time_point::max());
  CHECK_FALSE(lease.valid());
  locks.advance(std::chrono::hours::max());
  CHECK(locks.try_lock("r", {.ttl = 24h}).value().valid());
}

TEST_CASE("fake_locks_refuse_what_they_cannot_be") {
  CHECK(refusal([] { FakeLocks{0}; }) == Errc::invalid_argument);
  CHECK(refusal([] { FakeLocks{32}; }) == Errc::invalid_argument);
  FakeLocks locks;
  CHECK_THROWS_MATCHES(locks.set_node(3, FakeNodeState::hanging), std::out_of_range,
                       Catch::Matchers::Message("there is no node number 3"));
  CHECK_THROWS_MATCHES(locks.set_node(-1, FakeNodeState::hanging), std::out_of_range,
                       Catch::Matchers::Message("there is no node number -1"));
  CHECK(refusal([&] { locks.take("r", -5s); }) == Errc::invalid_argument);
  CHECK(refusal([&] { locks.take("r", 0s); }) == Errc::invalid_argument);
  CHECK(refusal([&] { locks.take("", 1s); }) == Errc::invalid_argument);
  CHECK(refusal([&] { locks.take("r", 1s, std::string(201, 'x')); }) == Errc::invalid_argument);
  CHECK(refusal([&] { locks.lose("redlock:r"); }) == Errc::invalid_argument);
}

TEST_CASE("a_fake_lease_outlives_its_fake") {
  Lease lease;
  {
    FakeLocks locks;
    lease = locks.try_lock("r").value();
  }
  CHECK(lease.valid());
  CHECK(lease.release() == Release::released);
}
