// All that one client holds.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "notify/lease_record.hpp"

namespace redlock::inline v1::detail {

/// The leases of one client, for the call that ends them all. Thread safe.
class LeaseRegistry {
 public:
  /// False: they were closed.
  bool add(const std::shared_ptr<LeaseRecord>& record) {
    const std::lock_guard lock{mutex_};
    if (closed_) return false;
    all_.push_back(record);
    record->place = all_.size() - 1;
    return true;
  }
  /// If it is there.
  void remove(const LeaseRecord& record) noexcept {
    const std::lock_guard lock{mutex_};
    if (record.place >= all_.size() || all_[record.place].get() != &record) return;
    all_.back()->place = record.place;
    std::swap(all_[record.place], all_.back());
    all_.pop_back();
  }
  /// From now on none is added. What was there.
  [[nodiscard]] std::vector<std::shared_ptr<core::LeaseState>> close() {
    const std::lock_guard lock{mutex_};
    std::vector<std::shared_ptr<core::LeaseState>> left{all_.begin(), all_.end()};
    closed_ = true;
    return left;
  }

 private:
  std::mutex mutex_;
  // Both are read and written under it.
  std::vector<std::shared_ptr<LeaseRecord>> all_;
  bool closed_ = false;
};

}  // namespace redlock::inline v1::detail
