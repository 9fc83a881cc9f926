// Processes and threads that want one lock.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "benchmark/measure/samples.hpp"
#include "redlock/options.hpp"
#include "redlock/redlock.hpp"

namespace redlock::benchmark {

/// What every waiter does, `holds` times: wait for the lock, keep it for a while, release it.
struct Waiting {
  std::string resource;
  Order order = Order::fifo;
  unsigned waiters = 0;
  std::size_t holds = 0;
  std::chrono::microseconds hold_time{};
};

struct Hold {
  Stopwatch::time_point called_at;
  Stopwatch::time_point held_at;
  Stopwatch::time_point released_at;  // when the release was called
};

/// Waiters that run from construction on. Not thread safe.
class Waiters {
 public:
  virtual ~Waiters() = default;
  /// Blocks until each of them has called for the lock.
  virtual void wait_for_calls() = 0;
  /// Blocks until all have ended. Returns all holds. Throws `std::runtime_error` if a waiter failed.
  virtual std::vector<Hold> wait_for_end() = 0;
};

/// Each waiter is a process of its own.
std::unique_ptr<Waiters> start_processes(const std::vector<std::string>& urls, const Waiting& waiting);
/// All waiters are threads of one client, which must outlive them.
std::unique_ptr<Waiters> start_threads(LockClient& locks, const Waiting& waiting);

}  // namespace redlock::benchmark
