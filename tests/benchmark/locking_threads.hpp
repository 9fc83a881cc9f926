// Many threads that lock through one client.
#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

#include "benchmark/measure/resource_name.hpp"
#include "benchmark/measure/samples.hpp"
#include "redlock/redlock.hpp"

namespace redlock::benchmark {

/// Each thread locks and releases resources of its own. The threads live as long as this object and sleep between
/// runs: starting them is not part of what is measured.
class LockingThreads {
 public:
  /// `locks` outlives this.
  LockingThreads(LockClient& locks, const LockOptions& options, unsigned callers, char contestant);
  ~LockingThreads();
  LockingThreads(const LockingThreads&) = delete;
  LockingThreads& operator=(const LockingThreads&) = delete;

  /// Runs so many cycles, shared among the threads as they come. One run at a time.
  void run(std::size_t cycles, Samples& samples);

 private:
  struct Caller {
    ResourceName resource;
    Samples samples = {};
  };
  void serve(Caller& caller);

  LockClient& locks_;
  const LockOptions options_;
  std::vector<Caller> callers_;
  std::barrier<> starting_;  // all threads and whoever calls run(), as is the next
  std::barrier<> ending_;
  std::atomic<std::ptrdiff_t> untaken_ = 0;  // cycles; below zero when every thread has looked
  bool over_ = false;                        // written before starting_
  std::vector<std::jthread> threads_;        // last: they use the others
};

}  // namespace redlock::benchmark
