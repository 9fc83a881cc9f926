// Slots in which waiting threads sleep until another thread wakes them.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
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

  /// Blocks until a `wake` of this place. Returns at once if that came earlier.
  void sleep(std::uint32_t place) noexcept {
    for (std::uint32_t seen = woken_.load(std::memory_order_acquire); (seen & place) == 0;
         seen = woken_.load(std::memory_order_acquire))
      futex(FUTEX_WAIT_BITSET_PRIVATE, seen, place);
    woken_.fetch_and(~place, std::memory_order_relaxed);
  }
  void wake(std::uint32_t places) noexcept {
    woken_.fetch_or(places, std::memory_order_release);
    futex(FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, places);
  }

 private:
  void futex(int operation, std::uint32_t value, std::uint32_t places) noexcept {
    static_assert(sizeof woken_ == sizeof(std::uint32_t));
    ::syscall(SYS_futex, &woken_, operation, value, nullptr, nullptr, places);
  }
  std::atomic<std::uint32_t> woken_{0};
};

/// A place where one thread sleeps until another one wakes it.
class ParkingSlot {
 public:
  ParkingSlot(ParkingRow& row, std::size_t place) noexcept : row_{&row}, place_{std::uint32_t{1} << place} {}
  /// Blocks until an `unpark`. Returns at once if that came earlier.
  void park() noexcept { row_->sleep(place_); }
  void unpark() noexcept { row_->wake(place_); }

 private:
  ParkingRow* row_;
  std::uint32_t place_;

  friend class ParkingList;
  friend class WakeUp;
  ParkingSlot* before_ = nullptr;  // the neighbours in the `ParkingList`
  ParkingSlot* after_ = nullptr;
  bool linked_ = false;
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
    if (slot.linked_) return;
    slot.linked_ = true;
    slot.after_ = nullptr;
    slot.before_ = last_;
    (last_ ? last_->after_ : first_) = &slot;
    last_ = &slot;
  }
  /// Returns true if the slot was in the list.
  bool remove(ParkingSlot& slot) noexcept {
    if (!slot.linked_) return false;
    slot.linked_ = false;
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
