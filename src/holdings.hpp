// All that one client holds.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "held_lock.hpp"

namespace redlock::inline v1::detail {

/// The leases of one client, for the call that ends them all. Thread safe.
class Holdings {
 public:
  /// False: they were closed.
  bool add(const std::shared_ptr<Holding>& holding) {
    const std::lock_guard lock{mutex_};
    if (closed_) return false;
    all_.push_back(holding);
    holding->place = all_.size() - 1;
    return true;
  }
  /// If it is there.
  void remove(const Holding& holding) noexcept {
    const std::lock_guard lock{mutex_};
    if (holding.place >= all_.size() || all_[holding.place].get() != &holding) return;
    all_.back()->place = holding.place;
    std::swap(all_[holding.place], all_.back());
    all_.pop_back();
  }
  /// From now on none is added. What was there.
  [[nodiscard]] std::vector<std::shared_ptr<core::Tenure>> close() {
    const std::lock_guard lock{mutex_};
    std::vector<std::shared_ptr<core::Tenure>> left{all_.begin(), all_.end()};
    closed_ = true;
    return left;
  }

 private:
  std::mutex mutex_;
  // Both are read and written under it.
  std::vector<std::shared_ptr<Holding>> all_;
  bool closed_ = false;
};

}  // namespace redlock::inline v1::detail
