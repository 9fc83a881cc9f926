#include <ctime>
#include <semaphore>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/servers.hpp"
#include "redlock/redlock.hpp"
#include "support/network/raw_client.hpp"

namespace redlock::benchmark {
namespace {

using std::chrono::milliseconds;

/// Threads that compete for every core.
std::vector<std::jthread> keep_busy(unsigned count) {
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back([](const std::stop_token& stop) {
      for (volatile unsigned long work = 0; !stop.stop_requested();) work = work + 1;
    });
  return threads;
}

/// Sleeps until `when` and returns the time of waking up: the reference for a thread without early wake-ups.
Clock::time_point wake_at(Clock::time_point when) {
  const auto since_boot = when.time_since_epoch();
  const timespec until{since_boot / std::chrono::seconds{1}, (since_boot % std::chrono::seconds{1}).count()};
  ::clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, nullptr);
  return Clock::now();
}

/// How long after the deadline a loss is noticed; a negative delay would be too early.
struct LossDelays {
  Clock::duration of_sleep;
  Clock::duration of_callback;
  Clock::duration of_wait;
};

/// Holds a lease with automatic renewal until `failed` nodes hang, and measures the notification of its loss.
LossDelays lose(Redlock& locks, testing::LocalNodes& servers, unsigned failed) {
  std::binary_semaphore called{0};
  Clock::time_point called_at;
  const auto on_lost = [&](Loss) {
    called_at = Clock::now();
    called.release();
  };
  const Lease lease = locks.lock("l", {.ttl = milliseconds{500}, .on_lost = on_lost}).value();
  std::this_thread::sleep_for(milliseconds{300});
  for (unsigned node = 0; node < failed; ++node) servers.pause(static_cast<int>(node));
  std::this_thread::sleep_for(milliseconds{20});  // replies under way have arrived
  const Clock::time_point deadline = lease.deadline();
  Clock::time_point slept_until;
  std::jthread sleeper{[&] { slept_until = wake_at(deadline); }};
  lease.wait_lost();
  const Clock::time_point waited_until = Clock::now();
  called.acquire();
  sleeper.join();
  for (unsigned node = 0; node < failed; ++node) servers.resume(static_cast<int>(node));
  return {slept_until - deadline, called_at - deadline, waited_until - deadline};
}

/// Holds a lease with automatic renewal until its keys are deleted on `count` nodes. Returns the time from
/// the last deletion to the notification.
Clock::duration lose_keys(Redlock& locks, std::vector<testing::RawClient>& observers, unsigned count) {
  std::binary_semaphore called{0};
  Clock::time_point called_at;
  const auto on_lost = [&](Loss) {
    called_at = Clock::now();
    called.release();
  };
  const Lease lease = locks.lock("d", {.ttl = std::chrono::minutes{1}, .on_lost = on_lost}).value();
  std::this_thread::sleep_for(milliseconds{50});  // all nodes are watched
  Clock::time_point deleted_at;
  for (unsigned node = 0; node < count; ++node) {
    deleted_at = Clock::now();
    observers[node].del("d");
  }
  called.acquire();
  if (lease.loss() != Loss::deleted) throw std::runtime_error{"lost, but not because of the deletion"};
  return called_at - deleted_at;
}

}  // namespace

Report loss(unsigned nodes, unsigned busy, std::size_t cycles) {
  testing::LocalNodes servers{static_cast<int>(nodes)};
  Redlock locks{endpoints_of(servers)};
  Contestant contestants[] = {{"sleep", nodes, 1, {}},
                              {"on_lost", nodes, 1, {}},
                              {"wait_lost", nodes, 1, {}},
                              {"deleted", nodes, 1, {}}};
  std::vector<testing::RawClient> observers;
  for (unsigned node = 0; node < nodes; ++node) observers.emplace_back(servers.port(static_cast<int>(node)));
  const auto threads = keep_busy(busy);
  for (std::size_t i = 0; i < cycles; ++i) {
    const LossDelays delays = lose(locks, servers, nodes / 2 + 1);
    contestants[0].samples.add(delays.of_sleep);
    contestants[1].samples.add(delays.of_callback);
    contestants[2].samples.add(delays.of_wait);
    contestants[3].samples.add(lose_keys(locks, observers, nodes / 2 + 1));
  }
  Report report{{}, "p99_ratio_to_sleep"};
  for (const Contestant& contestant : contestants)
    report.rows.emplace_back(
        contestant, contestant.samples.percentile_us(0.99) / contestants[0].samples.percentile_us(0.99));
  return report;
}

}  // namespace redlock::benchmark
