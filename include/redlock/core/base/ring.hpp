// A queue that reuses its memory.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace redlock::inline v1::core {

/// A first-in, first-out queue in a ring buffer. The buffer grows by doubling and never shrinks, so the hot path does
/// not allocate.
template <class T>
class Ring {
 public:
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Afterwards one `push` throws nothing.
  void make_room() {
    if (size_ == slots_.size()) grow();
  }
  void push(T value) {
    make_room();
    slots_[(head_ + size_++) & (slots_.size() - 1)] = std::move(value);
  }
  /// Precondition: not empty.
  [[nodiscard]] const T& front() const noexcept { return slots_[head_]; }
  /// Precondition: not empty.
  T pop() {
    T value = std::exchange(slots_[head_], T{});
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
    return value;
  }
  void clear() noexcept {
    while (!empty()) pop();
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 16 : slots_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move(slots_[(head_ + i) & (slots_.size() - 1)]);
    slots_.swap(larger);
    head_ = 0;
  }

  std::vector<T> slots_;  // the size is zero or a power of two
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace redlock::inline v1::core
