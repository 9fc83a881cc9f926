// Parking places of waiting threads.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

namespace redlock::inline v1::detail {

/// Where a thread sleeps until another one wakes it. Belongs to the client's pool, never to a stack: the wake-up
/// comes after the mutex was released, and its owner may have gone by then. A futex of our own: std::atomic's
/// `wait` yields several times before it sleeps, which many threads on few cores pay for.
class Spot {
 public:
  /// Returns after an `unpark`, also an earlier one; at times without any: check, and park again.
  void park() noexcept {
    while (woken_.exchange(0, std::memory_order_acquire) == 0) futex(FUTEX_WAIT_PRIVATE, 0);
  }
  void unpark() noexcept {
    if (woken_.exchange(1, std::memory_order_release) == 0) futex(FUTEX_WAKE_PRIVATE, 1);
  }

 private:
  void futex(int operation, int value) noexcept {
    static_assert(sizeof woken_ == sizeof(std::uint32_t));
    ::syscall(SYS_futex, &woken_, operation, value, nullptr, nullptr, 0);
  }

  std::atomic<std::uint32_t> woken_{0};

  friend class SpotList;
  Spot* before_ = nullptr;  // in the list of the parked
  Spot* after_ = nullptr;
  bool linked_ = false;
};

/// The parked, longest first. Under the client's mutex.
class SpotList {
 public:
  void add(Spot& spot) noexcept {
    if (spot.linked_) return;
    spot.linked_ = true;
    spot.after_ = nullptr;
    spot.before_ = last_;
    (last_ ? last_->after_ : first_) = &spot;
    last_ = &spot;
  }
  /// Whether it was there.
  bool remove(Spot& spot) noexcept {
    if (!spot.linked_) return false;
    spot.linked_ = false;
    (spot.before_ ? spot.before_->after_ : first_) = spot.after_;
    (spot.after_ ? spot.after_->before_ : last_) = spot.before_;
    return true;
  }
  /// Null when there is none.
  Spot* take_first() noexcept {
    Spot* const spot = first_;
    if (spot) remove(*spot);
    return spot;
  }

 private:
  Spot* first_ = nullptr;
  Spot* last_ = nullptr;
};

/// Under the client's mutex.
class SpotPool {
 public:
  Spot& take() {
    if (free_.empty()) {
      free_.reserve(all_.size() + 1);  // so that `give` never allocates
      return all_.emplace_back();
    }
    Spot* const spot = free_.back();
    free_.pop_back();
    return *spot;
  }
  void give(Spot& spot) noexcept { free_.push_back(&spot); }

 private:
  std::deque<Spot> all_;
  std::vector<Spot*> free_;
};

}  // namespace redlock::inline v1::detail
