// Shutting down a client.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/loss_recorder.hpp"
#include "integration/support/observers.hpp"
#include "redlock/mutex.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::Lease;
using redlock::Loss;
using redlock::Redlock;
using redlock::Release;
using redlock::State;

struct Fixture {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
};

}  // namespace

TEST_CASE("shut_down_reports_all_leases_as_lost_and_leaves_their_release_to_the_holders") {
  Fixture f;
  LossRecorder recorder;
  auto plain = f.locks.try_lock("plain", {.ttl = 60s});
  auto renewed = f.locks.try_lock("renewed", {.ttl = 60s});
  auto notified = f.locks.try_lock("notified", {.ttl = 60s, .on_lost = recorder.callback()});
  auto released = f.locks.try_lock("released", {.ttl = 60s});
  auto orphaned = f.locks.try_lock("orphaned", {.ttl = 60s});
  REQUIRE((plain && renewed && notified && released && orphaned));
  const std::stop_token token = renewed->stop_token();
  CHECK(released->release() == Release::released);
  CHECK(orphaned->orphan());

  f.locks.shut_down();
  for (const auto* const lease : {&plain, &renewed, &notified}) {
    CHECK((*lease)->state() == State::lost);
    CHECK((*lease)->loss() == Loss::shut_down);
    CHECK(f.servers.having((*lease)->resource()) > 1);  // others do not get it before its holder has stopped
  }
  CHECK(eventually(
      [&] { return token.stop_requested() && recorder.losses() == std::vector{Loss::shut_down}; }));
  CHECK(plain->wait_lost());
  f.locks.shut_down();  // has no further effect

  CHECK_FALSE(renewed->extend());
  for (auto* const lease : {&plain, &renewed, &notified}) CHECK((*lease)->release() == Release::already_lost);
  for (const char* const resource : {"plain", "renewed", "notified"})
    CHECK(eventually([&] { return f.servers.having(resource) == 0; }));
  CHECK(released->loss() == Loss::none);
  CHECK(f.servers.having("orphaned") > 1);
}

TEST_CASE("a_client_after_shut_down_refuses_locks_and_still_inspects") {
  Fixture f;
  Redlock other{endpoints(f.nodes)};
  auto left = other.lock("left", {.ttl = 60s}).value();
  REQUIRE(left.orphan());
  f.locks.shut_down();
  CHECK(f.locks.try_lock("r").code() == Errc::cancelled);
  CHECK_THROWS_WITH(f.locks.lock("r").value(), contains("the client was shut down"));
  CHECK(f.locks.adopt({"left", left.owner_value(), left.fencing_token()}).code() == Errc::cancelled);
  CHECK(f.servers.holding("left", left.owner_value()) > 1);
  redlock::Mutex mutex{f.locks, "m"};
  CHECK_THROWS_AS(mutex.try_lock_until(std::chrono::steady_clock::now() + 1h), redlock::Error);
  CHECK(f.locks.inspect("left").size() == 3);
}

TEST_CASE("shut_down_ends_calls_that_wait_for_a_lock") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), {.node_timeout = 10s}};
  Redlock other{endpoints(nodes)};
  const auto held = other.try_lock("r", {.ttl = 60s});
  REQUIRE(held);
  reach_all(locks, servers);
  const bool in_an_attempt = GENERATE(false, true);
  if (in_an_attempt) nodes.pause(1), nodes.pause(2);
  const std::uint64_t before = servers[0].attempts();
  std::vector<std::future<std::error_code>> waiting;
  for (int caller = 0; caller < 4; ++caller)
    waiting.push_back(std::async(std::launch::async, [&] { return locks.lock("r", {.ttl = 60s}).code(); }));
  // Calls that find another one waiting make no attempt.
  REQUIRE(eventually([&] { return servers[0].attempts() >= before + (in_an_attempt ? 4 : 1); }));
  locks.shut_down();
  for (auto& each : waiting) {
    // Much less than the node timeout.
    CHECK(each.wait_for(5s) == std::future_status::ready);
    CHECK(each.get() == Errc::cancelled);
  }
}

TEST_CASE("a_loss_callback_may_shut_its_client_down") {
  Fixture f;
  LossRecorder recorder;
  const auto other = f.locks.try_lock("other", {.ttl = 60s, .on_lost = recorder.callback()});
  const auto lease = f.locks.try_lock(
      "r", {.ttl = 1s, .renewal = redlock::Renewal::none, .on_lost = [&](Loss) { f.locks.shut_down(); }});
  REQUIRE((other && lease));
  CHECK(eventually([&] { return recorder.losses() == std::vector{Loss::shut_down}; }));
  CHECK(lease->loss() == Loss::deadline_passed);
}

TEST_CASE("no_lease_survives_a_shut_down_that_races_acquisitions") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  for (int round = 0; round < 30; ++round) {
    Redlock locks{endpoints(nodes)};
    std::atomic<int> leases = 0;
    std::array<Lease, 4> last;
    const auto contend = [&](std::size_t caller) {
      for (int turn = 0;; turn = 1 - turn) {
        const std::string resource = std::to_string(caller) + "/" + std::to_string(turn);
        auto lease = locks.try_lock(
            resource,
            {.ttl = 60s, .renewal = caller == 0 ? redlock::Renewal::automatic : redlock::Renewal::none});
        if (lease.code() == Errc::cancelled) break;
        if (!lease) continue;  // too slow on a busy machine
        ++leases;
        last.at(caller) = std::move(lease).value();  // releases the previous one
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t caller = 0; caller < last.size(); ++caller) threads.emplace_back(contend, caller);
    CHECK(eventually([&] { return leases > 4 + round; }));
    locks.shut_down();
    for (std::thread& thread : threads) thread.join();
    for (const auto& lease : last) CHECK_FALSE(lease.valid());
    last = {};
    CHECK(eventually([&] { return servers.empty() == 3; }));
  }
}

TEST_CASE("a_single_node_lock_can_be_shut_down") {
  const LocalNodes nodes{1};
  redlock::SingleNodeLock lock{endpoints(nodes).front()};
  const auto lease = lock.try_lock("r", {.ttl = 60s});
  REQUIRE(lease);
  lock.shut_down();
  CHECK(lease->loss() == Loss::shut_down);
}
