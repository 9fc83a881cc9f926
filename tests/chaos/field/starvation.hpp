// How long the machine has kept this process from running.
#pragma once

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

namespace redlock::chaos {

/// A thread that wants to run every tenth of a second, and adds up how late it was. What takes longer than it should has an
/// excuse of that length. `total` from any thread.
class Starvation {
 public:
  Starvation() : thread_{[this](const std::stop_token& stop) { measure(stop); }} {}

  [[nodiscard]] std::chrono::nanoseconds total() const noexcept {
    return std::chrono::nanoseconds{total_.load()};
  }

 private:
  void measure(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds tick{100};
    constexpr std::chrono::milliseconds usual{5};
    while (!stop.stop_requested()) {
      const auto due = std::chrono::steady_clock::now() + tick;
      std::this_thread::sleep_until(due);
      const std::chrono::nanoseconds late = std::chrono::steady_clock::now() - due;
      if (late > usual) total_ += late.count();
    }
  }

  std::atomic<std::int64_t> total_ = 0;
  std::jthread thread_;
};

}  // namespace redlock::chaos
