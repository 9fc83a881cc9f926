// The calls of one client that wait for the same lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "redlock/core/line/line_messages.hpp"
#include "redlock/core/line/waiter.hpp"

namespace redlock::inline v1::core {

/// Waiting calls in the order in which they were made. One of them may be making an attempt.
class LocalQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return waiters_.empty(); }
  /// Precondition: there is one.
  [[nodiscard]] Waiter& first() const noexcept { return *waiters_.front(); }

  /// Returns true if another call is the first one now.
  bool add(Waiter& waiter) {
    const auto earlier = [](const Waiter* one, const Waiter* other) {
      return one->terms().called_at < other->terms().called_at;
    };
    const auto place = std::upper_bound(waiters_.begin(), waiters_.end(), &waiter, earlier);
    const bool is_first = place == waiters_.begin();
    waiters_.insert(place, &waiter);
    return is_first;
  }
  /// Likewise.
  bool remove(Waiter& waiter) {
    if (asking_ == &waiter) asking_ = nullptr;
    const auto place = std::find(waiters_.begin(), waiters_.end(), &waiter);
    if (place == waiters_.end()) return false;
    const bool was_first = place == waiters_.begin();
    waiters_.erase(place);
    return was_first;
  }
  /// Removes all but the call that is making an attempt, which leaves by itself.
  [[nodiscard]] std::vector<Waiter*> take_idle() {
    std::vector<Waiter*> idle = std::exchange(waiters_, {});
    if (asking_) std::erase(idle, waiters_.emplace_back(asking_));
    return idle;
  }

  /// `first` is the place of the first call in the line of all clients. The others stand at least so far behind it.
  void tell_places(const LinePlace& first, Time now, Outbox& outbox) const {
    const auto ahead = static_cast<std::size_t>(first.rank);
    const std::size_t length = static_cast<std::size_t>(first.length) + waiters_.size() - 1;
    for (std::size_t at = 0; at < waiters_.size(); ++at)
      waiters_[at]->placed(ahead + at + 1, length, now, outbox);
  }

  [[nodiscard]] bool is_asking() const noexcept { return asking_ != nullptr; }
  /// The first call makes an attempt.
  Waiter& let_ask() noexcept { return *(asking_ = waiters_.front()); }
  /// Returns false if the attempt of another call is under way.
  bool attempt_ended(const Waiter& waiter) noexcept {
    if (asking_ == &waiter) asking_ = nullptr;
    return !asking_;
  }

 private:
  std::vector<Waiter*> waiters_;
  Waiter* asking_ = nullptr;
};

}  // namespace redlock::inline v1::core
