// Many threads that lock through one client.
#pragma once

#include <vector>

#include "redlock/redlock.hpp"
#include "resource_name.hpp"
#include "samples.hpp"

namespace redlock::benchmark {

/// Each thread locks and releases resources of its own. The time counts from when the last thread is ready to
/// when the last one has ended; starting threads does not count.
class LockingThreads {
 public:
  /// `locks` outlives this.
  LockingThreads(Locker& locks, unsigned callers, char contestant);

  /// Runs so many cycles, shared among the threads as they come.
  void run(std::size_t cycles, Samples& samples);

 private:
  Locker& locks_;
  std::vector<ResourceName> resources_;  // by thread
};

}  // namespace redlock::benchmark
