// Locks with a delay, on real servers: after a loss nobody gets them until the delay is over.
#include <chrono>
#include <string>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Errc;
using redlock::LockOptions;
using redlock::Loss;
using redlock::Redlock;
using redlock::Release;
using redlock::Renewal;

const LockOptions delayed{.ttl = 200ms, .lock_delay = 1s, .renewal = Renewal::none};

}  // namespace

TEST_CASE("after_its_deadline_a_lock_with_a_delay_is_had_only_after_the_delay") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  Redlock others{endpoints(nodes)};
  auto lease = locks.lock("r", delayed).value();
  REQUIRE(lease.wait_lost(20s));
  const auto lost = lease.deadline();
  CHECK(lease.release() == Release::already_lost);
  const auto next = others.lock("r");
  REQUIRE(next);
  // The clock of the servers counts whole milliseconds.
  CHECK(Clock::now() - lost >= 999ms);
}

TEST_CASE("a_release_in_time_frees_a_lock_with_a_delay_at_once_and_so_does_an_extended_one") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  LockOptions options = delayed;
  options.ttl = 20s;
  auto lease = locks.lock("r", options).value();
  CHECK(lease.extend());
  for (RawClient& server : servers) {
    const int left = std::stoi(server.command({"PTTL", "r"}));
    if (left >= 0) CHECK((left > 20'000 && left <= 21'000));
  }
  CHECK(lease.release() == Release::released);
  REQUIRE(eventually([&] { return servers.having("r") == 0; }));
}

TEST_CASE("a_lock_with_a_delay_that_is_lost_early_keeps_its_last_copies") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  LockOptions options = delayed;
  options.ttl = 20s;
  auto lease = locks.lock("r", options).value();
  REQUIRE(eventually([&] { return servers.having("r") == 3; }));
  for (const std::size_t node : {0U, 1U}) servers[node].command({"DEL", "r"});
  CHECK_FALSE(lease.extend());
  CHECK(lease.loss() == Loss::deleted);
  CHECK(lease.release() == Release::already_lost);
  CHECK(is_granted(Redlock{endpoints(nodes)}.try_lock("r")));
  CHECK(servers[2].command({"GET", "r"}) == lease.owner_value());
}

TEST_CASE("a_client_that_is_shut_down_frees_its_locks_with_a_delay") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  LockOptions options = delayed;
  options.ttl = 20s;
  auto lease = locks.lock("r", options).value();
  locks.shut_down();
  CHECK(lease.loss() == Loss::shut_down);
  lease.release();
  CHECK(eventually([&] { return servers.having("r") == 0; }));
}

TEST_CASE("ttl_and_delay_together_are_at_most_max_ttl") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes), {.max_ttl = 10s}};
  CHECK(is_granted(locks.try_lock("r", {.ttl = 6s, .lock_delay = 4s})));
  const auto refused = locks.try_lock("r", {.ttl = 6s, .lock_delay = 5s});
  CHECK(refused.code() == Errc::misconfigured);
}
