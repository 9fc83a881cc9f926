// Things that several threads want to use.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace redlock::testing {

/// Things of which each may be in use by one thread at a time.
class Things {
 public:
  explicit Things(std::size_t count) : used_(count) {}
  void use(const std::vector<std::size_t>& some, std::chrono::milliseconds time = {}) {
    for (const std::size_t one : some)
      if (used_[one].exchange(true)) clashes = clashes + 1;
    std::this_thread::sleep_for(time);
    for (const std::size_t one : some) used_[one] = false;
  }
  /// How often a thing was in use already.
  std::atomic<int> clashes = 0;

 private:
  std::vector<std::atomic<bool>> used_;
};

}  // namespace redlock::testing
