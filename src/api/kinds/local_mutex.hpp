// The local half of a `redlock::Mutex`.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace redlock::inline v1::detail {

/// A replacement for std::timed_mutex, made of parts that thread sanitizers understand. That of GCC, up to version 12
/// at least, does not see when a thread acquires a std::timed_mutex with a time limit, and reports races that do not
/// exist.
class LocalMutex {
 public:
  void lock() {
    std::unique_lock lock{mutex_};
    unlocked_.wait(lock, [this] { return !is_locked(); });
    owner_ = std::this_thread::get_id();
  }
  [[nodiscard]] bool try_lock() {
    const std::lock_guard lock{mutex_};
    if (is_locked()) return false;
    owner_ = std::this_thread::get_id();
    return true;
  }
  [[nodiscard]] bool try_lock_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock{mutex_};
    if (!unlocked_.wait_until(lock, deadline, [this] { return !is_locked(); })) return false;
    owner_ = std::this_thread::get_id();
    return true;
  }
  void unlock() noexcept {
    const std::lock_guard lock{mutex_};
    owner_ = std::thread::id{};
    unlocked_.notify_one();  // under the mutex: the next thread may destroy this object
  }
  /// This thread has it. No other thread can change the answer.
  [[nodiscard]] bool is_mine() const noexcept { return owner_ == std::this_thread::get_id(); }

 private:
  [[nodiscard]] bool is_locked() const noexcept { return owner_.load() != std::thread::id{}; }

  std::mutex mutex_;
  std::condition_variable unlocked_;
  std::atomic<std::thread::id> owner_;  // written under mutex_
};

}  // namespace redlock::inline v1::detail
