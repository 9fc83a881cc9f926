// Who hears of a loss.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "redlock/clock.hpp"
#include "redlock/status.hpp"

namespace redlock::testing {

/// Notes what it is told, and when.
class Listener {
 public:
  [[nodiscard]] std::function<void(Loss)> callback() {
    return [this](Loss loss) {
      const std::lock_guard lock{mutex_};
      told_.push_back(loss);
      at_ = Clock::now();
    };
  }
  [[nodiscard]] std::vector<Loss> told() {
    const std::lock_guard lock{mutex_};
    return told_;
  }
  [[nodiscard]] Clock::time_point at() {
    const std::lock_guard lock{mutex_};
    return at_;
  }

 private:
  std::mutex mutex_;
  std::vector<Loss> told_;
  Clock::time_point at_{};
};

}  // namespace redlock::testing
