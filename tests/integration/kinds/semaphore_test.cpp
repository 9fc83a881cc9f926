// Semaphores on real servers: seats, their search, and calls that wait for any of them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/calls_in_turn.hpp"
#include "integration/support/exclusion_checker.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Errc;
using redlock::Lease;
using redlock::LockOptions;
using redlock::Redlock;
using redlock::Semaphore;

LockOptions any_of(std::size_t seats) { return {.ttl = 60s, .seats = seats}; }

/// Takes all seats.
std::vector<Lease> take_all(Redlock& locks, std::size_t seats) {
  std::vector<Lease> leases;
  while (leases.size() < seats) leases.push_back(locks.try_lock("gpu", any_of(seats)).value());
  return leases;
}

}  // namespace

TEST_CASE("a_semaphore_has_as_many_leases_as_seats_each_of_a_seat_of_its_own") {
  const LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  Redlock others{endpoints(nodes)};
  std::vector<Lease> leases = take_all(locks, 3);
  std::set<std::string> seats;
  for (const Lease& lease : leases) {
    seats.insert(std::string{lease.resource()});
    CHECK(lease.fencing_token().value() > 0);
  }
  CHECK(seats == std::set<std::string>{"gpu#0", "gpu#1", "gpu#2"});
  CHECK(others.try_lock("gpu", any_of(3)).is_held());
  CHECK(others.try_lock_for("gpu", 50ms, any_of(3)).code() == Errc::timed_out);
  leases.pop_back();
  CHECK(eventually([&] { return is_granted(others.try_lock("gpu", any_of(3))); }));
}

TEST_CASE("a_seat_is_a_lock_and_the_name_of_the_semaphore_is_another_one") {
  const LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  const Lease seat = locks.try_lock("gpu", any_of(1)).value();
  CHECK(locks.try_lock("gpu#0").is_held());
  const Lease lock = locks.try_lock("gpu").value();
  CHECK(lock.valid());
  CHECK(locks.inspect(seat.resource())[0].owner == seat.owner_value());
}

TEST_CASE("all_seats_can_be_had_while_two_of_five_nodes_are_dead") {
  LocalNodes nodes{5};
  Redlock locks{endpoints(nodes)};
  Observers servers{nodes};
  reach_all(locks, servers);
  nodes.kill(1);
  nodes.kill(3);
  for (const std::size_t seats : {1U, 4U, 8U}) CHECK(take_all(locks, seats).size() == seats);
}

TEST_CASE("a_client_that_comes_back_takes_its_seat_without_a_search") {
  const LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Redlock others{endpoints(nodes)};
  const std::vector<Lease> taken = take_all(others, 7);
  std::string seat{locks.try_lock("gpu", any_of(8)).value().resource()};
  for (Redlock* const client : {&locks, &others})
    reach_all(*client, servers);  // nothing is under way any more
  const auto attempts = servers.attempts();
  const auto searches = servers.calls("eval");
  for (int round = 0; round < 5; ++round) {
    const Lease lease = locks.try_lock("gpu", any_of(8)).value();
    CHECK(lease.resource() == seat);
  }
  CHECK(eventually([&] { return servers.attempts() >= attempts + 5 * 3; }));
  CHECK(servers.attempts() == attempts + 5 * 3);
  CHECK(servers.calls("eval") == searches);
}

TEST_CASE("a_search_among_half_of_the_seats_takes_two_attempts_at_most") {
  constexpr std::uint64_t semaphores = 20;
  const LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Redlock others{endpoints(nodes)};
  std::vector<Lease> taken;
  for (std::uint64_t number = 0; number < semaphores; ++number)
    for (int seat = 0; seat < 4; ++seat)
      taken.push_back(others.try_lock("gpu" + std::to_string(number), any_of(8)).value());
  for (Redlock* const client : {&locks, &others})
    reach_all(*client, servers);  // nothing is under way any more
  const auto attempts = servers.attempts();
  for (std::uint64_t number = 0; number < semaphores; ++number)
    taken.push_back(locks.try_lock("gpu" + std::to_string(number), any_of(8)).value());
  reach_all(locks, servers);
  const auto made = servers.attempts() - attempts;
  CHECK(made > 3 * semaphores);  // some of the first seats are taken
  CHECK(made <= 2 * 3 * semaphores);
}

TEST_CASE("a_search_ends_with_the_only_free_seat_of_a_hundred") {
  const LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  std::vector<Lease> leases = take_all(locks, 100);
  const auto free = std::find_if(leases.begin(), leases.end(),
                                 [](const Lease& lease) { return lease.resource() == "gpu#41"; });
  REQUIRE(free != leases.end());
  leases.erase(free);
  Redlock others{endpoints(nodes)};
  CHECK(others.try_lock("gpu", any_of(100)).value().resource() == "gpu#41");
}

TEST_CASE("a_seat_that_is_free_on_a_minority_is_not_taken") {
  const LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  const std::vector<Lease> leases = take_all(locks, 2);
  servers[0].del("gpu#0");
  servers[1].del("gpu#1");
  Redlock others{endpoints(nodes)};
  CHECK(others.try_lock("gpu", any_of(2)).is_held());
}

TEST_CASE("the_first_in_line_gets_the_seat_that_is_released") {
  const LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  std::vector<Lease> leases = take_all(locks, 5);
  WaitingLine line{nodes, "gpu#"};
  Redlock others{endpoints(nodes)};
  Clock::duration shortest = 1h;
  for (int round = 0; round < 5; ++round) {
    CallsInTurn calls{"gpu", any_of(5)};
    calls.add(others);
    REQUIRE(eventually([&] { return line.length() == 1 && line.flags() == 3; }));
    const Clock::time_point begun = Clock::now();
    leases.pop_back();
    REQUIRE(eventually([&] { return calls.served().size() == 1; }));
    shortest = std::min(shortest, Clock::now() - begun);
    calls.allow_releases(1);
    auto again = locks.try_lock_for("gpu", 20s, any_of(5));
    leases.push_back(std::move(again).value());
  }
  CHECK(shortest < 500ms);  // far less than the time between two looks
}

TEST_CASE("calls_that_wait_for_any_seat_are_served_in_order") {
  const LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  std::vector<Lease> leases = take_all(locks, 2);
  WaitingLine line{nodes, "gpu#"};
  std::list<Redlock> clients;
  CallsInTurn calls{"gpu", any_of(2)};
  for (int client = 0; client < 4; ++client) {
    calls.add(clients.emplace_back(endpoints(nodes)));
    REQUIRE(eventually([&] { return line.length() == client + 1; }));
  }
  leases.clear();
  REQUIRE(eventually([&] { return calls.served().size() == 2; }));
  CHECK(is_granted(locks.try_lock("gpu")));
  calls.allow_releases(2);
  REQUIRE(eventually([&] { return calls.served().size() == 4; }));
  std::vector<int> served = calls.served();
  std::sort(served.begin(), served.begin() + 2);  // the first two may be served at the same time
  std::sort(served.begin() + 2, served.end());
  CHECK(served == numbers(4));
}

TEST_CASE("a_newcomer_does_not_take_the_seat_for_which_others_stand_in_line") {
  const LocalNodes nodes{3};
  Observers servers{nodes};
  for (std::size_t node = 0; node < 3; ++node)
    servers[node].command({"SET", "redlock:qw:{gpu#}", "somebody", "PX", "60000"});
  Redlock locks{endpoints(nodes)};
  CHECK(locks.try_lock("gpu", any_of(8)).is_held());
  CHECK(is_granted(locks.try_lock("gpu", {.seats = 8, .order = redlock::Order::none})));
  CHECK(is_granted(locks.try_lock("gpu")));
}

TEST_CASE("a_waiting_call_gets_the_seat_of_a_holder_that_died") {
  const LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  std::vector<Lease> leases = take_all(locks, 1);
  Lease dying = locks.try_lock("gpu#1", {.ttl = 1s, .renewal = redlock::Renewal::none}).value();
  REQUIRE(dying.orphan());
  Redlock others{endpoints(nodes)};
  const auto begun = Clock::now();
  CHECK(others.try_lock_for("gpu", 30s, any_of(2)).value().resource() == "gpu#1");
  CHECK(Clock::now() - begun < 10s);
}

TEST_CASE("threads_of_several_clients_never_share_a_seat") {
  constexpr std::size_t seats = 3;
  const LocalNodes nodes{5};
  std::list<Redlock> clients;
  ExclusionChecker<seats> checker;
  std::atomic<int> inside{0};
  std::atomic<int> most_inside{0};
  {
    std::vector<std::jthread> threads;
    for (int client = 0; client < 4; ++client) {
      Redlock& locks = clients.emplace_back(endpoints(nodes));
      for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&] {
          for (int round = 0; round < 10; ++round) {
            const Lease lease = locks.lock("gpu", any_of(seats)).value();
            const auto seat = static_cast<std::size_t>(lease.resource().back() - '0');
            checker.acquired(seat, lease);
            const int now_inside = ++inside;
            for (int most = most_inside;
                 now_inside > most && !most_inside.compare_exchange_weak(most, now_inside);) {
            }
            --inside;
            checker.releasing(seat, lease);
          }
        });
    }
  }
  CHECK(checker.leases() == 160);
  CHECK(checker.overlaps() == 0);
  CHECK(most_inside <= 3);
}

TEST_CASE("a_semaphore_object_without_a_permit_refuses_to_release_one") {
  const LocalNodes nodes{1};
  Redlock locks{endpoints(nodes)};
  Semaphore semaphore{locks, "gpu", 2};
  const auto release = [&] { semaphore.release(); };
  const auto not_permitted = std::make_error_code(std::errc::operation_not_permitted);
  CHECK(error_of(release).code() == not_permitted);
  CHECK_THAT(error_of(release).what(),
             Catch::Matchers::EndsWith("this object has no permit of the semaphore gpu"));
  semaphore.acquire();
  CHECK(semaphore.release() == redlock::Release::released);
  CHECK(error_of(release).code() == not_permitted);
  CHECK(semaphore.try_acquire());
}

TEST_CASE("a_semaphore_object_has_the_operations_of_a_standard_one") {
  const LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  Semaphore semaphore{locks, "gpu", 2};
  semaphore.acquire();
  CHECK(semaphore.try_acquire_for(20s));
  CHECK(semaphore.permits() == 2);
  Redlock others{endpoints(nodes)};
  {
    Semaphore elsewhere{others, "gpu", 2};
    CHECK_FALSE(elsewhere.try_acquire());
    CHECK_FALSE(elsewhere.try_acquire_until(std::chrono::steady_clock::now() + 50ms));
    CHECK(semaphore.release() == redlock::Release::released);
    CHECK(elsewhere.try_acquire_for(20s));
    CHECK_FALSE(semaphore.try_acquire());
  }
  CHECK(semaphore.permits() == 1);
  CHECK(semaphore.try_acquire_for(20s));  // the other object has released its permit
}

TEST_CASE("a_number_of_seats_out_of_range_is_refused") {
  const LocalNodes nodes{1};
  Redlock locks{endpoints(nodes)};
  for (const std::size_t seats : {std::size_t{0}, std::size_t{1001}}) {
    Semaphore semaphore{locks, "gpu", seats};
    CHECK_THROWS_WITH(semaphore.acquire(),
                      contains("seats is " + std::to_string(seats) + "; allowed: 1 to 1000"));
  }
  CHECK(is_granted(locks.try_lock("gpu", any_of(1000))));
  CHECK(locks.try_lock(std::string(4095, 'r'), any_of(2)).code() == Errc::invalid_argument);
  CHECK(is_granted(locks.try_lock(std::string(4094, 'r'), any_of(2))));
}
