// The local half of a `redlock::Mutex`.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "os/fork_guard.hpp"

namespace redlock::inline v1::detail {

/// A replacement for std::timed_mutex, made of parts that thread sanitizers understand. That of GCC, up to version 12
/// at least, does not see when a thread acquires a std::timed_mutex with a time limit, and reports races that do not
/// exist.
class LocalMutex {
 public:
  void lock() {
    std::unique_lock lock{parts_->mutex};
    parts_->unlocked.wait(lock, [this] { return !is_locked(); });
    owner_ = std::this_thread::get_id();
  }
  [[nodiscard]] bool try_lock() {
    const std::lock_guard lock{parts_->mutex};
    if (is_locked()) return false;
    owner_ = std::this_thread::get_id();
    return true;
  }
  [[nodiscard]] bool try_lock_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock{parts_->mutex};
    if (!parts_->unlocked.wait_until(lock, deadline, [this] { return !is_locked(); })) return false;
    owner_ = std::this_thread::get_id();
    return true;
  }
  void unlock() noexcept {
    if (is_in_child()) return static_cast<void>(owner_ = std::thread::id{});
    const std::lock_guard lock{parts_->mutex};
    owner_ = std::thread::id{};
    parts_->unlocked.notify_one();  // under the mutex: the next thread may destroy this object
  }
  /// This thread has it. No other thread can change the answer.
  [[nodiscard]] bool is_mine() const noexcept { return owner_ == std::this_thread::get_id(); }

 private:
  [[nodiscard]] bool is_locked() const noexcept { return owner_.load() != std::thread::id{}; }

  /// Of fork(). The parts are as another thread of the parent left them at that moment.
  [[nodiscard]] bool is_in_child() const noexcept { return fork_generation() != generation_; }

  struct Parts {
    std::mutex mutex;
    std::condition_variable unlocked;  // its destructor waits for the threads that wait for it
  };
  const unsigned generation_ = fork_generation();
  const OwnProcessPtr<Parts> parts_{new Parts};
  std::atomic<std::thread::id> owner_;  // written under the mutex, except in a child of fork()
};

}  // namespace redlock::inline v1::detail
