// The local half of a `redlock::Mutex`.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace redlock::inline v1::detail {

/// A replacement for std::timed_mutex, made of parts that thread sanitizers understand. That of GCC, up to version 12
/// at least, does not see when a thread acquires a std::timed_mutex with a time limit, and reports races that do not
/// exist.
class LocalMutex {
 public:
  void lock() {
    std::unique_lock lock{mutex_};
    unlocked_.wait(lock, [this] { return !is_locked_; });
    is_locked_ = true;
  }
  [[nodiscard]] bool try_lock() {
    const std::lock_guard lock{mutex_};
    return !std::exchange(is_locked_, true);
  }
  [[nodiscard]] bool try_lock_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock{mutex_};
    if (!unlocked_.wait_until(lock, deadline, [this] { return !is_locked_; })) return false;
    is_locked_ = true;
    return true;
  }
  void unlock() noexcept {
    const std::lock_guard lock{mutex_};
    is_locked_ = false;
    unlocked_.notify_one();  // under the mutex: the next thread may destroy this object
  }

 private:
  std::mutex mutex_;
  std::condition_variable unlocked_;
  bool is_locked_ = false;  // under mutex_
};

}  // namespace redlock::inline v1::detail
