// Thousands of random cycles with random faults must leave nothing behind.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <iostream>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/exclusion_checker.hpp"
#include "integration/support/number_from.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "integration/support/random_faults.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/own_process.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Lease;
using redlock::LockOptions;

namespace {

constexpr std::size_t resources = 60;
constexpr std::size_t clients = 3;  // with separate connections, so their commands arrive in any order
constexpr int threads_at_work = 12;
constexpr auto slow =
    250ms;  // longer than that, and much shorter than the second after which nodes are given up
const LockOptions lasting{.ttl = 60s};  // only a release ends it

/// One thread's share of the cycles.
class Worker {
 public:
  Worker(InspectableLock& locks, ExclusionChecker<resources>& checker, const LockOptions& options,
         std::uint64_t seed)
      : locks_{locks}, checker_{checker}, options_{options}, random_{seed} {}

  void cycle() {
    const Clock::time_point begin = Clock::now();
    const std::size_t resource = draw(draw(3) == 0 ? 2 : resources);  // some are wanted more
    if (draw(10) == 0)
      look_at(name(resource));
    else if (auto lease = acquire(name(resource)))
      use(resource, *lease);
    if (Clock::now() - begin > options_.ttl.get() / 2) ++overlong;
  }
  void last_cycle(std::size_t number) {
    static_cast<void>(locks_.try_lock("last " + std::to_string(number), lasting));
  }

  static inline std::atomic<int> overlong{0};   // cycles so long that a copy may have expired
  static inline std::atomic<int> misread{0};    // reports with answers to other questions
  static inline std::atomic<int> cancelled{0};  // cancelled calls

 private:
  redlock::LockResult acquire(const std::string& resource) {
    switch (draw(4)) {
      case 0:
        return locks_.try_lock_for(resource, std::chrono::milliseconds{1 + draw(30)}, options_);
      case 1:
        return acquire_or_stop(resource);
      default:
        return locks_.try_lock(resource, options_);
    }
  }

  /// Another thread requests a stop.
  redlock::LockResult acquire_or_stop(const std::string& resource) {
    std::stop_source stop;
    std::jthread other{[&, time = std::chrono::microseconds{draw(3000)}] {
      std::this_thread::sleep_for(time);
      stop.request_stop();
    }};
    auto lease = locks_.lock(resource, options_, stop.get_token());
    cancelled += lease.code() == redlock::Errc::cancelled ? 1 : 0;
    return lease;
  }

  void use(std::size_t resource, Lease& lease) {
    checker_.acquired(resource, lease);
    if (draw(4) == 0) std::this_thread::sleep_for(std::chrono::microseconds{draw(2000)});
    checker_.releasing(resource, lease);
    if (draw(2) == 0) lease.release();
  }

  void look_at(const std::string& resource) {
    for (const redlock::NodeReport& report : locks_.inspect(resource)) {
      const bool not_an_owner = report.owner && !redlock::Holder{*report.owner}.since;
      if (!not_an_owner && report.status != redlock::NodeStatus::protocol_error) continue;
      ++misread;
      std::cout << "soak: " << report << std::endl;
    }
  }

  static std::string name(std::size_t resource) { return "resource " + std::to_string(resource); }
  std::size_t draw(std::size_t end) { return random_() % end; }

  InspectableLock& locks_;
  ExclusionChecker<resources>& checker_;
  const LockOptions& options_;
  std::mt19937_64 random_;
};

template <class Each>
void on_all_threads(Each each) {
  std::vector<std::jthread> workers;
  for (int worker = 0; worker < threads_at_work; ++worker)
    workers.emplace_back([&, worker] { each(worker); });
}

/// Who waits in line listens from then on. On a busy machine a client may wait for so short times that it never begins to, so
/// all wait here until they listen to the first two nodes.
bool all_listen(std::vector<InspectableLock>& locks) {
  const auto taken = locks.front().try_lock("taken", lasting);
  return is_granted(taken) && eventually([&] {
           return std::ranges::all_of(locks, [](InspectableLock& each) {
             if (!each.listens(0) || !each.listens(1))
               static_cast<void>(each.try_lock_for("taken", 300ms, lasting));
             return each.listens(0) && each.listens(1);
           });
         });
}

std::uint64_t expired_keys(RawClient& server) { return std::stoull(*server.info("expired_keys")); }

}  // namespace

TEST_CASE("thousands_of_cycles_with_random_faults_leave_nothing_behind") {
  const std::uint64_t seed = number_from("REDLOCK_SEED", std::random_device{}());
  const std::uint64_t cycles = number_from("REDLOCK_SOAK_CYCLES", 10'000);
  std::cout << "soak: REDLOCK_SEED=" << seed << std::endl;
  const bool stand_in_line = seed % 2 == 0;
  LockOptions brief{.ttl = 1s};  // so the node timeout is 100 ms
  if (!stand_in_line) brief.order = redlock::Order::none;
  CAPTURE(seed, cycles);

  LocalNodes nodes{5, {.persist = true}};
  Proxies proxies{nodes};
  Observers steady{nodes, {0, 1}};
  REQUIRE(steady.empty() == 2);  // connects
  // They never restart. Where a disk is busy, a server that writes each change to it may be silent for longer than a second,
  // and clients would replace their connections.
  for (RawClient* server : {&steady[0], &steady[1]})
    REQUIRE(server->command({"CONFIG", "SET", "appendonly", "no"}) == "OK");
  const std::size_t descriptors = count_descriptors();
  const std::set<pid_t> running = threads();
  {
    std::vector<InspectableLock> locks;
    for (std::size_t client = 0; client < clients; ++client) {
      locks.emplace_back(proxies.endpoints(), redlock::Options{.durable_nodes = true});
      REQUIRE(is_granted(locks.back().try_lock("warm up", lasting)));
    }
    if (stand_in_line) REQUIRE(all_listen(locks));
    ExclusionChecker<resources> checker;
    {
      const RandomFaults faults{nodes, proxies, seed, slow};
      std::atomic<std::uint64_t> left{cycles};
      on_all_threads([&](int number) {
        Worker worker{locks[static_cast<std::size_t>(number) % clients], checker, brief,
                      seed + static_cast<std::uint64_t>(number) + 1};
        for (std::uint64_t now = left; now > 0;)
          if (left.compare_exchange_weak(now, now - 1)) worker.cycle();
        for (std::size_t last = 0; last < 5; ++last)
          worker.last_cycle(static_cast<std::size_t>(number) * 5 + last);
      });
    }
    // No copy is left on the nodes whose connections never broke, and none has expired. (The flag of a line may: its last
    // raise can arrive after another client has taken it down.) Who waits in line listens as well.
    const std::size_t connections = stand_in_line ? 2 * clients : clients;
    CHECK(proxies[0].counters().connections == connections);
    CHECK(proxies[1].counters().connections == connections);
    CHECK(eventually([&] { return steady.empty() == 2; }));
    const bool as_planned = Worker::overlong == 0 && proxies[0].late(2 * slow, Direction::both) == 0 &&
                            proxies[1].late(2 * slow, Direction::both) == 0;
    CHECK((stand_in_line || !as_planned || expired_keys(steady[0]) + expired_keys(steady[1]) == 0));

    // No reply went to the wrong operation, although replies were late.
    CHECK(checker.overlaps() == 0);
    CHECK(Worker::misread == 0);
    CHECK(proxies.late(100ms) > 0);
    for (const InspectableLock& client : locks) CHECK(client.late_replies() > 0);
    CHECK(checker.leases() > static_cast<int>(cycles / 20));
    CHECK(Worker::cancelled > 0);

    // No operation and no reply is pending.
    for (const InspectableLock& client : locks) {
      CHECK(eventually([&] { return client.active() == 0 && client.pending() == 0; }));
      CHECK(eventually([&] { return client.ready_nodes() == 5; }));
    }
    std::cout << "soak: " << checker.leases() << " leases, " << Worker::overlong << " overlong cycles"
              << std::endl;
  }
  CHECK(eventually([&] { return count_descriptors() == descriptors; }));
  CHECK(eventually([&] { return threads() == running; }));
}
