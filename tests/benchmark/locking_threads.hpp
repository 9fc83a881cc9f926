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

/// Each thread locks and releases resources of its own. The threads live as long as this object and sleep
/// between runs, so their start is not measured.
class LockingThreads {
 public:
  /// `locks` must outlive this object.
  LockingThreads(LockClient& locks, const LockOptions& options, unsigned callers, char contestant);
  ~LockingThreads();
  LockingThreads(const LockingThreads&) = delete;
  LockingThreads& operator=(const LockingThreads&) = delete;

  /// Runs `cycles` cycles in total; each thread takes the next one when it is idle. Not to be called
  /// concurrently.
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
  std::barrier<> starting_;  // for all threads and the caller of run(), as the next
  std::barrier<> ending_;
  std::atomic<std::ptrdiff_t> untaken_ = 0;  // cycles left; below zero once the threads have found none left
  bool over_ = false;                        // written before starting_
  std::vector<std::jthread> threads_;        // last, as the threads use the other members
};

}  // namespace redlock::benchmark
