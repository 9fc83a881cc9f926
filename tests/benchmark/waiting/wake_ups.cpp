#include "benchmark/waiting/wake_ups.hpp"

#include <chrono>
#include <string>
#include <thread>

#include "benchmark/measure/samples.hpp"
#include "benchmark/waiting/waiters.hpp"
#include "integration/support/observers.hpp"

namespace redlock::benchmark {
namespace {

using namespace std::chrono_literals;

constexpr int rounds = 50;
const std::string resource = "bench/wake up";
/// Much longer than it takes to stand in line, to raise the flag and to read the key.
constexpr auto time_to_line_up = 100ms;

/// `free_lock`: returns when the lock was free.
template <class Take, class FreeLock>
WakeUps measure(const testing::LocalNodes& servers, LockClient& locks, Take take, FreeLock free_lock) {
  testing::Observers observers{servers};
  Samples times;
  for (int round = 0; round < rounds; ++round) {
    take(observers);
    const std::unique_ptr<Waiters> waiter =
        start_threads(locks, {.resource = resource, .waiters = 1, .holds = 1});
    waiter->wait_for_calls();
    std::this_thread::sleep_for(time_to_line_up);
    const Stopwatch::time_point free_at = free_lock(observers);
    times.add(waiter->wait_for_end().front().held_at - free_at);
    observers.command({"DEL", resource});
  }
  return {times.percentile_us(0.5), times.percentile_us(1)};
}

}  // namespace

WakeUps wake_ups_by_deletion(const testing::LocalNodes& servers, LockClient& locks) {
  return measure(
      servers, locks,
      [](testing::Observers& nodes) {
        nodes.command({"SET", resource, "somebody"});
      },
      [](testing::Observers& nodes) {
        const auto begun = Stopwatch::now();
        for (std::size_t node = 0; node <= nodes.size() / 2; ++node) nodes[node].del(resource);
        return begun;
      });
}

WakeUps wake_ups_by_expiry(const testing::LocalNodes& servers, LockClient& locks) {
  constexpr auto lifetime = 2 * time_to_line_up;
  Stopwatch::time_point end;
  return measure(
      servers, locks,
      [&](testing::Observers& nodes) {
        nodes.command({"SET", resource, "somebody", "PX", std::to_string(lifetime.count())});
        end = Stopwatch::now() + lifetime;
      },
      [&](testing::Observers&) { return end; });
}

}  // namespace redlock::benchmark
