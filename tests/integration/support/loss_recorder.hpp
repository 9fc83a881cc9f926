// Records the losses reported to a callback.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "redlock/clock.hpp"
#include "redlock/status.hpp"

namespace redlock::testing {

/// Records the reported losses and the time of the last one. Thread-safe.
class LossRecorder {
 public:
  [[nodiscard]] std::function<void(Loss)> callback() {
    return [this](Loss loss) {
      const std::lock_guard lock{mutex_};
      losses_.push_back(loss);
      at_ = Clock::now();
    };
  }
  [[nodiscard]] std::vector<Loss> losses() {
    const std::lock_guard lock{mutex_};
    return losses_;
  }
  [[nodiscard]] Clock::time_point at() {
    const std::lock_guard lock{mutex_};
    return at_;
  }

 private:
  std::mutex mutex_;
  std::vector<Loss> losses_;
  Clock::time_point at_{};
};

}  // namespace redlock::testing
