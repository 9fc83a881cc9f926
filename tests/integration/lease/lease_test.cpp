// A lease as a value: moves, lifetimes, and a truthful deadline.
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Errc;
using redlock::Lease;
using redlock::Redlock;
using redlock::Release;
using redlock::State;

/// Number of servers whose copy lives at least until the deadline of the lease. The server reads PTTL at some time
/// between two reads of the clock, and truncates it to milliseconds.
int confirming(Observers& servers, const std::string& key, Clock::time_point deadline) {
  int count = 0;
  for (auto& server : servers) {
    const std::chrono::milliseconds left{server.pttl(key)};
    count += left >= 0ms && deadline <= Clock::now() + left + 1ms ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("a_lease_reports_its_resource_state_and_deadline") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  const auto before = Clock::now();
  const auto lease = locks.try_lock("invoice/42", {.ttl = 20s});
  REQUIRE(lease);
  CHECK(lease->resource() == "invoice/42");
  CHECK(lease->state() == State::held);
  CHECK(lease->valid());
  // The ttl minus the drift allowance of 1/100 and 2 ms, counted from before the first byte was written.
  CHECK(lease->deadline() >= before + 19798ms);
  CHECK(lease->deadline() <= Clock::now() + 19798ms);
  CHECK((lease->remaining() > 0s && lease->remaining() <= 19798ms));
}

TEST_CASE("a_configured_drift_is_subtracted_from_the_ttl") {
  LocalNodes nodes{1};
  Redlock locks{endpoints(nodes), {.drift = 5s}};
  const auto lease = locks.try_lock("r", {.ttl = 20s});
  REQUIRE(lease);
  CHECK(lease->deadline() <= Clock::now() + 15s);
}

TEST_CASE("a_lease_never_promises_more_time_than_a_majority_of_servers_grants") {
  LocalNodes nodes{5};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Lease lease = locks.lock("r", {.ttl = 500ms, .renewal = redlock::Renewal::none}).value();
  int samples = 0;
  const auto sample = [&] {
    const auto deadline = lease.deadline();
    const int honest = confirming(servers, "r", deadline);
    if (Clock::now() >= deadline) return;  // the lease ended during the sample
    CHECK(honest >= 3);
    ++samples;
  };
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 5; ++k) sample();
    if (lease.extend()) sample();
  }
  while (lease.valid()) sample();
  CHECK(samples > 0);
  CHECK(lease.state() == State::lost);
}

TEST_CASE("an_empty_lease_is_released") {
  Lease empty;
  CHECK(empty.state() == State::released);
  CHECK_FALSE(empty.valid());
  CHECK_FALSE(empty.extend());
  CHECK_FALSE(empty.orphan());
  CHECK_FALSE(empty.wait_lost());
  CHECK_FALSE(empty.stop_token().stop_possible());
  CHECK(empty.release() == Release::already_lost);
  CHECK(empty.resource().empty());
}

TEST_CASE("a_moved_lease_keeps_the_lock_and_the_moved_from_one_is_released") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  auto got = locks.try_lock("r");
  REQUIRE(got);
  const std::string owner = got->owner_value();
  Lease lease{std::move(*got)};

  Lease& empty = *got;
  CHECK(empty.state() == State::released);
  CHECK_FALSE(empty.valid());
  CHECK(empty.resource().empty());
  CHECK(empty.owner_value().empty());
  CHECK(empty.remaining() == 0ns);
  CHECK(empty.deadline() == Clock::time_point{});
  CHECK_FALSE(empty.extend());
  std::error_code ec;
  CHECK_FALSE(empty.extend(ec));
  CHECK(ec == Errc::lost);
  CHECK(empty.release() == Release::already_lost);
  *got = {};

  CHECK(lease.owner_value() == owner);
  CHECK(lease.extend());
  CHECK(eventually([&] { return servers.holding("r", owner) == 3; }));
  CHECK(lease.release() == Release::released);
}

TEST_CASE("a_self_moved_lease_keeps_its_lock") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  auto lease = locks.try_lock("r");
  REQUIRE(lease);
  Lease& same = *lease;
  *lease = std::move(same);
  CHECK(lease->state() == State::held);
  CHECK(lease->extend());
  CHECK(lease->release() == Release::released);
}

TEST_CASE("leases_are_not_copyable_and_move_without_throwing") {
  CHECK_FALSE(std::is_copy_constructible_v<Lease>);
  CHECK_FALSE(std::is_copy_assignable_v<Lease>);
  CHECK(std::is_nothrow_move_constructible_v<Lease>);
  CHECK(std::is_nothrow_move_assignable_v<Lease>);
}

TEST_CASE("leases_outlive_the_client_object") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  const auto make = [&] {
    Redlock locks{endpoints(nodes)};
    return locks.lock("r").value();
  };
  Lease lease = make();
  CHECK(lease.extend());
  CHECK(eventually([&] { return servers.holding("r", lease.owner_value()) == 3; }));
  CHECK(lease.release() == Release::released);
  CHECK(eventually([&] { return servers.empty() == 3; }));
}

TEST_CASE("leases_of_one_client_may_end_on_any_thread_in_any_order") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  std::vector<Lease> leases;
  {
    Redlock locks{endpoints(nodes)};
    for (int i = 0; i < 8; ++i) leases.push_back(locks.lock("r/" + std::to_string(i)).value());
  }
  std::vector<std::thread> threads;
  for (Lease& lease : leases) threads.emplace_back([mine = std::move(lease)]() mutable { mine.release(); });
  for (std::thread& thread : threads) thread.join();
  leases.clear();
  CHECK(eventually([&] { return servers.empty() == 3; }));
  for (auto& server : servers)  // the last lease has closed the connections
    CHECK(eventually([&] { return server.info("connected_clients") == "1"; }));
}

TEST_CASE("other_threads_may_read_a_lease_while_it_is_extended") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  auto lease = locks.try_lock("r");
  REQUIRE(lease);
  bool always_valid = true;
  auto latest = lease->deadline();
  bool never_back = true;
  std::jthread reader{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto deadline = lease->deadline();
      never_back = never_back && deadline >= latest;
      always_valid = always_valid && lease->valid() && lease->state() == State::held;
      latest = deadline;
    }
  }};
  for (int i = 0; i < 100; ++i) CHECK(lease->extend());
  reader.request_stop();
  reader.join();
  CHECK(always_valid);
  CHECK(never_back);
}
