// The leases of one client.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "notify/lease_record.hpp"

namespace redlock::inline v1::detail {

/// All leases that one client holds, so that a shutdown can end them. Thread safe.
class LeaseRegistry {
 public:
  /// Returns false if the registry is closed.
  bool add(const std::shared_ptr<LeaseRecord>& record) {
    const std::lock_guard lock{mutex_};
    if (closed_) return false;
    all_.push_back(record);
    record->place = all_.size() - 1;
    return true;
  }
  /// Removes the lease if it is in the registry.
  void remove(const LeaseRecord& record) noexcept {
    const std::lock_guard lock{mutex_};
    if (record.place >= all_.size() || all_[record.place].get() != &record) return;
    all_.back()->place = record.place;
    std::swap(all_[record.place], all_.back());
    all_.pop_back();
  }
  /// Closes the registry, so that no lease can be added any more. Returns the leases in it.
  [[nodiscard]] std::vector<std::shared_ptr<core::LeaseState>> close() {
    const std::lock_guard lock{mutex_};
    std::vector<std::shared_ptr<core::LeaseState>> left{all_.begin(), all_.end()};
    closed_ = true;
    return left;
  }

 private:
  std::mutex mutex_;
  // The mutex guards both members below.
  std::vector<std::shared_ptr<LeaseRecord>> all_;
  bool closed_ = false;
};

}  // namespace redlock::inline v1::detail
