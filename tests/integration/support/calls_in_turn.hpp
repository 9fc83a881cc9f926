// Calls for one lock, one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "redlock/lock_client.hpp"

namespace redlock::testing {

/// Waiting calls, each on a thread of its own. Who gets the lock keeps it until the test allows its release. Threads: one.
class CallsInTurn {
 public:
  explicit CallsInTurn(std::string resource, LockOptions options = {.ttl = std::chrono::seconds{60}})
      : resource_{std::move(resource)}, options_{std::move(options)} {}
  ~CallsInTurn() {
    for (std::jthread& call : calls_) call.request_stop();
    allow_releases(static_cast<std::ptrdiff_t>(calls_.size()));
  }
  CallsInTurn(const CallsInTurn&) = delete;
  CallsInTurn& operator=(const CallsInTurn&) = delete;

  /// Starts the next call. The client must outlive this object.
  void add(LockClient& locks) {
    calls_.emplace_back(
        [this, &locks, number = static_cast<int>(calls_.size())](const std::stop_token& stop) {
          const LockResult result = locks.lock(resource_, options_, stop);
          if (!result) return;
          add_served(number);
          releases_.acquire();
        });
  }
  void allow_releases(std::ptrdiff_t count) { releases_.release(count); }

  /// The numbers of the calls that have got the lock so far, from 0 on, in that order.
  [[nodiscard]] std::vector<int> served() {
    const std::lock_guard lock{mutex_};
    return served_;
  }

 private:
  void add_served(int number) {
    const std::lock_guard lock{mutex_};
    served_.push_back(number);
  }

  const std::string resource_;
  const LockOptions options_;
  std::mutex mutex_;
  std::vector<int> served_;
  std::counting_semaphore<> releases_{0};
  std::vector<std::jthread> calls_;  // last, as the threads use the other members
};

/// The numbers from 0 on.
[[nodiscard]] inline std::vector<int> numbers(int count) {
  std::vector<int> all;
  for (int number = 0; number < count; ++number) all.push_back(number);
  return all;
}

}  // namespace redlock::testing
