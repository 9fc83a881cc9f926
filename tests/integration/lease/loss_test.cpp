// How the loss of a lease is reported: when, how often, and in which ways.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/support/loss_recorder.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/raw_client.hpp"
#include "support/one_shot_event.hpp"
#include "support/own_process.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Lease;
using redlock::LockOptions;
using redlock::Loss;
using redlock::Options;
using redlock::Redlock;
using redlock::Release;
using redlock::State;

struct Fixture {
  explicit Fixture(Options options = {}) : locks{endpoints(nodes), std::move(options)} {}
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks;
};

/// More callbacks than there are threads for them. They block until the event is set.
struct HangingCallbacks {
  HangingCallbacks(Redlock& locks, std::chrono::milliseconds ttl) {
    for (int i = 0; i < 20; ++i)
      leases.push_back(
          locks.lock("hanging " + std::to_string(i), {.ttl = ttl, .on_lost = [this](Loss) { event.wait(); }})
              .value());
  }
  ~HangingCallbacks() { event.set(); }
  HangingCallbacks(const HangingCallbacks&) = delete;
  HangingCallbacks& operator=(const HangingCallbacks&) = delete;

  OneShotEvent event;
  std::vector<Lease> leases;
};

}  // namespace

TEST_CASE("a_loss_is_reported_in_every_way_at_the_deadline_and_not_before") {
  Fixture f;
  LossRecorder recorder;
  const auto lease = f.locks.try_lock_for(
      "r", 20s, {.ttl = 300ms, .renewal = redlock::Renewal::none, .on_lost = recorder.callback()});
  REQUIRE(lease);
  const std::stop_token token = lease->stop_token();
  CHECK_FALSE(token.stop_requested());
  const auto deadline = lease->deadline();
  CHECK_FALSE(lease->wait_lost(10ms));
  CHECK(lease->wait_lost());
  CHECK(Clock::now() >= deadline);
  REQUIRE(eventually([&] { return recorder.losses().size() == 1; }));
  CHECK(recorder.losses() == std::vector{Loss::deadline_passed});
  CHECK(recorder.at() >= deadline);
  CHECK(token.stop_requested());
  CHECK(lease->stop_token().stop_requested());
  std::this_thread::sleep_for(100ms);
  CHECK(recorder.losses().size() == 1);
}

TEST_CASE("a_lease_released_in_time_is_never_reported_lost") {
  Fixture f;
  LossRecorder recorder;
  auto lease = f.locks.try_lock("r", {.ttl = 2s, .on_lost = recorder.callback()});
  REQUIRE(lease);
  const std::stop_token token = lease->stop_token();
  CHECK(lease->release() == Release::released);
  CHECK(lease->loss() == Loss::none);
  CHECK_FALSE(lease->wait_lost(1s));
  std::this_thread::sleep_for(2500ms);
  CHECK(recorder.losses().empty());
  CHECK_FALSE(token.stop_requested());
}

TEST_CASE("a_wait_for_a_loss_ends_with_a_release_or_a_stop_request") {
  Fixture f;
  auto lease = f.locks.try_lock("r", {.ttl = 60s});
  REQUIRE(lease);
  std::stop_source stop;
  auto stopped = std::async(std::launch::async, [&] { return lease->wait_lost(1h, stop.get_token()); });
  auto released = std::async(std::launch::async, [&] { return lease->wait_lost(); });
  std::this_thread::sleep_for(20ms);
  stop.request_stop();
  CHECK_FALSE(stopped.get());
  CHECK(released.wait_for(20ms) == std::future_status::timeout);
  lease->release();
  CHECK_FALSE(released.get());
}

TEST_CASE("a_loss_found_by_a_renewal_is_reported_before_the_deadline") {
  Fixture f;
  LossRecorder recorder;
  const bool taken = GENERATE(false, true);
  const auto lease = f.locks.try_lock("r", {.ttl = 3s, .on_lost = recorder.callback()});
  REQUIRE(lease);
  if (taken)
    f.servers.command({"SET", "r", "somebody else"});
  else
    f.servers.command({"DEL", "r"});
  REQUIRE(eventually([&] { return !recorder.losses().empty(); }));
  CHECK(recorder.at() < lease->deadline());
  CHECK(recorder.losses() == std::vector{taken ? Loss::taken : Loss::deleted});
  CHECK(lease->loss() == recorder.losses()[0]);
  CHECK(lease->state() == State::lost);
  CHECK(lease->remaining() == Clock::duration::zero());
}

TEST_CASE("a_loss_found_by_an_explicit_extension_is_reported") {
  Fixture f;
  LossRecorder recorder;
  auto lease = f.locks.try_lock("r", {.ttl = 60s, .on_lost = recorder.callback()});
  REQUIRE(lease);
  f.servers.command({"DEL", "r"});
  CHECK_FALSE(lease->extend());
  REQUIRE(eventually([&] { return recorder.losses().size() == 1; }));
  CHECK(recorder.losses() == std::vector{Loss::deleted});
}

TEST_CASE("a_renewed_lease_is_lost_at_its_deadline_when_a_majority_hangs") {
  Fixture f;
  LossRecorder recorder;
  const auto lease = f.locks.try_lock("r", {.ttl = 1s, .on_lost = recorder.callback()});
  REQUIRE(lease);
  std::this_thread::sleep_for(500ms);
  f.nodes.pause(0);
  f.nodes.pause(1);
  REQUIRE(eventually([&] { return lease->state() == State::in_doubt; }));
  REQUIRE(eventually([&] { return !recorder.losses().empty(); }));
  CHECK(recorder.losses() == std::vector{Loss::no_quorum});
  CHECK(recorder.at() >= lease->deadline());
  f.nodes.resume(0);
  f.nodes.resume(1);
  CHECK(lease->state() == State::lost);
  std::this_thread::sleep_for(300ms);
  CHECK(lease->state() == State::lost);
  CHECK(recorder.losses().size() == 1);
}

TEST_CASE("a_blocking_callback_does_not_delay_other_notifications") {
  Fixture f;
  OneShotEvent event;
  std::atomic<int> blocked = 0;
  const auto block = [&](Loss) {
    ++blocked;
    event.wait();
  };
  std::vector<Lease> blockers;
  const SetAtEnd released{event};
  for (int i = 0; i < 3; ++i)
    blockers.push_back(
        *f.locks.try_lock_for("blocker " + std::to_string(i), 20s,
                              {.ttl = 200ms, .renewal = redlock::Renewal::none, .on_lost = block}));
  LossRecorder recorder;
  const auto lease = f.locks.try_lock_for(
      "r", 20s, {.ttl = 500ms, .renewal = redlock::Renewal::none, .on_lost = recorder.callback()});
  const auto renewed = f.locks.try_lock("renewed", {.ttl = 2s});
  REQUIRE((lease && renewed));
  REQUIRE(eventually([&] { return recorder.losses().size() == 1; }));
  CHECK(blocked == 3);
  std::this_thread::sleep_for(3s);  // longer than the ttl of the renewed lease
  CHECK(renewed->state() == State::held);
}

TEST_CASE("a_lease_destroyed_after_a_wait_for_its_loss_has_had_its_callback_called") {
  Fixture f;
  CHECK(eventually([&] {  // repeated in case the machine was too busy
    HangingCallbacks others{f.locks, 300ms};
    LossRecorder recorder;
    Lease lease =
        f.locks.lock("r", {.ttl = 600ms, .renewal = redlock::Renewal::none, .on_lost = recorder.callback()})
            .value();
    const std::jthread opener{[&others, opens_at = lease.deadline() + 20ms] {
      std::this_thread::sleep_until(opens_at);
      others.event.set();
    }};
    lease.wait_lost();
    lease = {};
    return recorder.losses().size() == 1;
  }));
}

TEST_CASE("a_wait_for_a_loss_returns_even_if_all_threads_hang_in_callbacks") {
  Fixture f;
  const HangingCallbacks others{f.locks, 300ms};
  const Lease lease = f.locks.lock("r", {.ttl = 600ms, .renewal = redlock::Renewal::none}).value();
  CHECK(lease.wait_lost());
  CHECK(Clock::now() < lease.deadline() + 10s);
  const Lease deleted = f.locks.lock("deleted", {.ttl = 60s}).value();
  static_cast<void>(deleted.stop_token());
  for (int node = 0; node < 3; ++node) RawClient{f.nodes.port(node)}.del("deleted");
  CHECK(deleted.wait_lost(30s));
}

TEST_CASE("a_throwing_callback_is_reported_and_affects_nothing_else") {
  std::mutex mutex;
  std::vector<std::string> warnings;
  Fixture f{{.on_warning = [&](std::string_view warning) {
    const std::lock_guard lock{mutex};
    warnings.emplace_back(warning);
  }}};
  LossRecorder recorder;
  // Attempts with so short a ttl may fail on a busy machine.
  const auto first =
      f.locks.try_lock_for("a", 20s, {.ttl = 100ms, .renewal = redlock::Renewal::none, .on_lost = [](Loss) {
                                        throw std::runtime_error{"oh no"};
                                      }});
  const auto other = f.locks.try_lock_for(
      "b", 20s,
      {.ttl = 100ms, .renewal = redlock::Renewal::none, .on_lost = [](Loss) { throw 42; }});  // NOLINT
  const auto last = f.locks.try_lock_for(
      "c", 20s, {.ttl = 300ms, .renewal = redlock::Renewal::none, .on_lost = recorder.callback()});
  REQUIRE(eventually([&] { return recorder.losses().size() == 1; }));
  REQUIRE(eventually([&] {
    const std::lock_guard lock{mutex};
    return warnings.size() == 2;
  }));
  std::sort(warnings.begin(), warnings.end());  // they come from different threads
  CHECK(warnings[0] == "a loss callback threw: an exception that is not a std::exception");
  CHECK(warnings[1] == "a loss callback threw: oh no");
}

TEST_CASE("a_release_waits_for_its_callback_on_another_thread") {
  Fixture f;
  OneShotEvent event;
  std::atomic<bool> begun = false;
  std::atomic<bool> ended = false;
  auto lease =
      f.locks.try_lock_for("r", 20s, {.ttl = 100ms, .renewal = redlock::Renewal::none, .on_lost = [&](Loss) {
                                        begun = true;
                                        event.wait();
                                        ended = true;
                                      }});
  const SetAtEnd goes_on{event};
  REQUIRE(lease);
  REQUIRE(eventually([&] { return begun.load(); }));
  auto released = std::async(std::launch::async, [&] {
    *lease = {};
    return ended.load();
  });
  CHECK(released.wait_for(100ms) == std::future_status::timeout);
  event.set();
  CHECK(released.get());
}

TEST_CASE("a_callback_may_destroy_its_lease_and_the_last_lease_its_client") {
  LocalNodes nodes{3};
  for (int round = 0; round < 10; ++round) {
    std::mutex mutex;
    Lease lease;
    std::atomic<bool> ended = false;
    const auto let_go = [&](Loss) {
      const std::lock_guard lock{mutex};
      lease = {};
      ended = true;
    };
    {
      const std::lock_guard lock{mutex};
      Redlock locks{endpoints(nodes)};
      lease = locks.lock("r", {.ttl = 300ms, .renewal = redlock::Renewal::none, .on_lost = let_go}).value();
    }
    REQUIRE(eventually([&] { return ended.load(); }));
    const std::lock_guard lock{mutex};  // waits for the end of the callback
  }
}

TEST_CASE("leases_may_be_destroyed_on_any_thread_while_they_are_renewed_and_lost") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  std::atomic<int> reports = 0;
  const auto contend = [&](int caller) {
    const std::string resource = "r " + std::to_string(caller);
    for (int round = 0; round < 40; ++round) {
      const LockOptions options{
          .ttl = 20ms,
          .renewal = round % 2 == 0 ? redlock::Renewal::automatic : redlock::Renewal::none,
          .on_lost = [&](Loss) { ++reports; }};
      auto lease = locks.try_lock(resource, options);
      if (!lease) continue;  // too slow on a busy machine
      const std::stop_callback callback{lease->stop_token(), [&] { ++reports; }};
      std::this_thread::sleep_for(std::chrono::milliseconds{round});
      if (round % 3 == 0) lease->release();
    }
  };
  std::vector<std::thread> threads;
  for (int caller = 0; caller < 4; ++caller) threads.emplace_back(contend, caller);
  for (std::thread& thread : threads) thread.join();
  const int at_the_end = reports;
  std::this_thread::sleep_for(50ms);
  CHECK(reports == at_the_end);
}

TEST_CASE("a_callback_may_own_a_lease_of_the_same_client") {
  Fixture f;
  std::atomic<bool> is_gone = false;
  f.locks.lock("first").value().release();
  f.nodes.pause(2);  // its answers arrive after the calls
  {
    struct Owner {
      Owner(Lease&& held, std::atomic<bool>& gone) : lease{std::move(held)}, is_gone{gone} {}
      ~Owner() {
        lease.release();
        is_gone = true;
      }
      Lease lease;
      std::atomic<bool>& is_gone;
    };
    const auto owner = std::make_shared<Owner>(f.locks.lock("owned").value(), is_gone);
    auto lease = f.locks.try_lock("r", {.on_lost = [owner](Loss) {}});
    REQUIRE(lease);
  }
  CHECK(is_gone);
  f.nodes.resume(2);
  CHECK(eventually([&] { return f.servers.empty() == 3; }));
}

TEST_CASE("a_stop_token_requested_at_the_deadline_is_stopped") {
  Fixture f;
  for (int round = 0; round < 10; ++round) {
    const Lease lease = f.locks
                            .lock("r" + std::to_string(round),
                                  {.ttl = 100ms, .renewal = redlock::Renewal::none, .on_lost = [](Loss) {}})
                            .value();
    while (lease.valid()) std::this_thread::yield();
    const std::stop_token token = lease.stop_token();
    CHECK(eventually([&] { return token.stop_requested(); }));
  }
}

TEST_CASE("a_forked_child_cannot_wait_for_a_loss") {
  Fixture f;
  const auto lease = f.locks.try_lock("r", {.ttl = 60s, .on_lost = [](Loss) {}});
  REQUIRE(lease);
  CHECK(in_child([&] {
          try {
            static_cast<void>(lease->stop_token());
          } catch (const redlock::Error& error) {
            return error.code() == redlock::Errc::invalid_argument && lease->valid() ? 17 : 1;
          }
          return 2;
        }) == 17);
}
