// Slots in which waiting threads sleep until another thread wakes them.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <vector>

namespace redlock::inline v1::detail {

/// Up to 32 slots on one futex word, one bit for each, so that one system call wakes any number of their threads. The
/// row belongs to the client and not to a thread's stack, because the wake-up happens after the mutex is released, when
/// the woken thread may have left already. Uses the futex directly, because std::atomic's `wait` yields several times
/// before it sleeps, which is costly for many threads on few cores.
class ParkingRow {
 public:
  static constexpr std::size_t size = 32;

  /// Blocks until a `wake` of this place, or until a time on the monotonic clock if there is one. Returns at once if that
  /// came earlier.
  void sleep(std::uint32_t place, const timespec* until = nullptr) noexcept {
    for (std::uint32_t seen = woken_.load(std::memory_order_acquire); (seen & place) == 0;
         seen = woken_.load(std::memory_order_acquire))
      if (futex(FUTEX_WAIT_BITSET_PRIVATE, seen, place, until) != 0 && errno == ETIMEDOUT) return;
    woken_.fetch_and(~place, std::memory_order_relaxed);
  }
  void wake(std::uint32_t places) noexcept {
    woken_.fetch_or(places, std::memory_order_release);
    futex(FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, places, nullptr);
  }

 private:
  long futex(int operation, std::uint32_t value, std::uint32_t places, const timespec* until) noexcept {
    static_assert(sizeof woken_ == sizeof(std::uint32_t));
    return ::syscall(SYS_futex, &woken_, operation, value, until, nullptr, places);
  }
  std::atomic<std::uint32_t> woken_{0};
};

class ParkingList;

/// A place where one thread sleeps until another one wakes it.
class ParkingSlot {
 public:
  ParkingSlot(ParkingRow& row, std::size_t place) noexcept : row_{&row}, place_{std::uint32_t{1} << place} {}
  /// Blocks until an `unpark`. Returns at once if that came earlier.
  void park() noexcept { row_->sleep(place_); }
  /// Likewise, but for this time at most.
  void park_for(std::chrono::nanoseconds span) noexcept {
    const std::chrono::nanoseconds until = std::chrono::steady_clock::now().time_since_epoch() + span;
    const timespec time{until / std::chrono::seconds{1}, (until % std::chrono::seconds{1}).count()};
    row_->sleep(place_, &time);
  }
  void unpark() noexcept { row_->wake(place_); }

 private:
  ParkingRow* row_;
  std::uint32_t place_;

  friend class ParkingList;
  friend class WakeUp;
  ParkingSlot* before_ = nullptr;  // the neighbours in the `ParkingList`
  ParkingSlot* after_ = nullptr;
  const ParkingList* list_ = nullptr;  // that it is in
};

/// Wakes many threads at once. Slots are added under the client's mutex; `send` is called without it.
class WakeUp {
 public:
  void add(const ParkingSlot& slot) noexcept {
    std::size_t call = 0;
    while (call < size_ && calls_[call].row != slot.row_) ++call;
    if (call == calls_.size()) return slot.row_->wake(slot.place_);  // more rows than fit: wake it directly
    if (call == size_) calls_[size_++] = {slot.row_, 0};
    calls_[call].places |= slot.place_;
  }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  void send() const noexcept {
    for (std::size_t call = 0; call < size_; ++call) calls_[call].row->wake(calls_[call].places);
  }

 private:
  struct Call {
    ParkingRow* row;
    std::uint32_t places;
  };
  std::array<Call, 16> calls_;
  std::size_t size_ = 0;
};

/// The slots of parked threads, in the order in which they parked. Guarded by the client's mutex.
class ParkingList {
 public:
  void add(ParkingSlot& slot) noexcept {
    if (slot.list_) return;
    slot.list_ = this;
    slot.after_ = nullptr;
    slot.before_ = last_;
    (last_ ? last_->after_ : first_) = &slot;
    last_ = &slot;
  }
  /// Returns true if the slot was in the list.
  bool remove(ParkingSlot& slot) noexcept {
    if (slot.list_ != this) return false;
    slot.list_ = nullptr;
    (slot.before_ ? slot.before_->after_ : first_) = slot.after_;
    (slot.after_ ? slot.after_->before_ : last_) = slot.before_;
    return true;
  }
  /// Removes the slot that has been parked for the longest time. Returns null if the list is empty.
  ParkingSlot* take_first() noexcept {
    ParkingSlot* const slot = first_;
    if (slot) remove(*slot);
    return slot;
  }

 private:
  ParkingSlot* first_ = nullptr;
  ParkingSlot* last_ = nullptr;
};

/// Slots for reuse. Guarded by the client's mutex.
class ParkingPool {
 public:
  ParkingSlot& take() {
    if (free_.empty()) {
      free_.reserve(all_.size() + 1);  // so that `give` never allocates
      const std::size_t place = all_.size() % ParkingRow::size;
      if (place == 0) rows_.emplace_back();
      return all_.emplace_back(rows_.back(), place);
    }
    ParkingSlot* const slot = free_.back();
    free_.pop_back();
    return *slot;
  }
  void give(ParkingSlot& slot) noexcept { free_.push_back(&slot); }

 private:
  std::deque<ParkingRow> rows_;
  std::deque<ParkingSlot> all_;
  std::vector<ParkingSlot*> free_;
};

}  // namespace redlock::inline v1::detail
