// Waiting calls: when they get the lock, and how many requests they send.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/measure.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Redlock;
using redlock::Release;

/// Pauses between attempts grow up to 400 ms; the rest is tolerance for a busy machine.
constexpr auto soon = 5s;

}  // namespace

TEST_CASE("a_waiter_gets_the_lock_soon_after_its_release") {
  TwoClients f;
  auto lease = f.locks.try_lock("r", {.ttl = 60s});
  REQUIRE(lease);
  const auto sets = f.servers.attempts();
  const redlock::Order order = GENERATE(redlock::Order::fifo, redlock::Order::none);
  auto waiter = std::async(std::launch::async, [&] {
    const auto next = f.others.lock("r", {.order = order}).value();
    return Clock::now();
  });
  WaitingLine line{f.nodes, "r"};
  REQUIRE(eventually(
      [&] { return order == redlock::Order::fifo ? line.flags() == 3 : f.servers.attempts() >= sets + 9; }));
  const auto released_at = Clock::now();
  CHECK(lease->release() == Release::released);
  const auto got_at = waiter.get();
  CHECK(got_at >= released_at);
  CHECK(got_at - released_at < soon);
}

TEST_CASE("a_waiter_gets_the_lock_of_a_crashed_holder_soon_after_its_ttl_and_never_before") {
  TwoClients f;
  const auto before = Clock::now();
  f.servers.command({"SET", "r", "crashed", "PX", "700"});
  const auto lease = f.others.try_lock_for("r", 20s);
  const auto got_at = Clock::now();
  REQUIRE(lease);
  CHECK(got_at >= before + 700ms);
  CHECK(got_at < before + 700ms + soon);
}

TEST_CASE("a_waiter_in_line_makes_an_attempt_at_the_beginning_and_one_at_the_end") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), unhurried};
  reach_all(locks, servers);
  servers.command({"SET", "r", "somebody"});
  const auto sets = servers.attempts();
  CHECK(locks.try_lock_for("r", 2s).is_held());
  // The flag in the way of the second one is found before the counter is read.
  CHECK(servers.attempts() - sets <= 6);
  CHECK(servers.attempts() - sets >= 3);
}

TEST_CASE("a_waiter_that_polls_sends_few_requests") {
  TwoClients f;
  f.servers.command({"SET", "r", "somebody"});
  const auto sets = f.servers.attempts();
  const auto seconds = std::chrono::duration<double>{
      time_of([&] { CHECK(f.locks.try_lock_for("r", 2s, {.order = redlock::Order::none}).is_held()); })};
  const auto each = static_cast<double>(f.servers.attempts() - sets) / 3;
  CAPTURE(each, seconds.count());
  CHECK(each >= 2);
  // Pauses of 10, 20, … up to 400 ms, at least half of that: 7 in the first third of a second, then 5 per second.
  CHECK(each <= 8 + 5 * seconds.count());
}

TEST_CASE("contenders_with_a_split_vote_all_get_the_lock_eventually") {
  LocalNodes nodes{5};
  std::vector<Redlock> clients;
  for (int i = 0; i < 5; ++i) clients.emplace_back(endpoints(nodes));
  std::vector<std::future<int>> waiters;
  for (Redlock& client : clients)
    waiters.push_back(std::async(std::launch::async, [&client] {
      int got = 0;
      for (int i = 0; i < 4; ++i) got += is_granted(client.try_lock_for("r", 20s, {.ttl = 60s})) ? 1 : 0;
      return got;
    }));
  for (auto& waiter : waiters) CHECK(waiter.get() == 4);
}

TEST_CASE("waiters_never_hold_the_lock_together") {
  TwoClients f;
  std::atomic<int> counter{0};  // protected by the lock on the servers: additions are not atomic
  std::vector<std::future<void>> workers;
  for (int i = 0; i < 4; ++i)
    workers.push_back(std::async(std::launch::async, [&, i] {
      for (int k = 0; k < 10; ++k) {
        const auto lease = (i % 2 == 0 ? f.locks : f.others).lock("r", {.ttl = 60s});
        counter = counter + 1;
      }
    }));
  for (auto& worker : workers) worker.get();
  CHECK(counter == 40);
}

TEST_CASE("a_wait_of_zero_time_makes_one_whole_attempt") {
  TwoClients f;
  CHECK(is_granted(f.locks.try_lock_for("r", 0s)));
  CHECK(is_granted(f.locks.try_lock_for("r", -1h)));
}
