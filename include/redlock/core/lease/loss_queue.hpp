// Whose loss is to be told.
#pragma once

#include <memory>
#include <set>
#include <utility>

#include "redlock/core/base/time.hpp"
#include "redlock/core/lease/early_wake_up.hpp"
#include "redlock/core/lease/lease_state.hpp"

namespace redlock::inline v1::core {

/// The leases whose loss somebody wants to hear of: each is told once, at its deadline at the latest. `Kind` is a LeaseState.
/// Not thread safe; but it needs not the client's mutex, as the deadlines of leases may be read without it: so no
/// loss is told late because of what else the client does.
template <class Kind>
class LossQueue {
 public:
  /// From now on its loss will be told.
  void add(const std::shared_ptr<Kind>& lease) {
    if (lease->is_watched) return;
    const Time deadline = lease->deadline();  // it may move at any moment
    looks_.emplace(deadline, lease);
    lease->next_look = deadline;
    lease->is_watched = true;
  }
  /// It will not be told any more.
  void remove(const std::shared_ptr<Kind>& lease) noexcept {
    if (std::exchange(lease->is_watched, false)) looks_.erase({lease->next_look, lease});
  }
  [[nodiscard]] bool watches(const Kind& lease) const noexcept { return lease.is_watched; }
  /// It was lost before its deadline: to be told now.
  void lost(const std::shared_ptr<Kind>& lease) noexcept {
    if (lease->is_watched) look_at(lease, Time::min());
  }

  /// When `take_lost` may have something to tell; perhaps too early, never too late.
  [[nodiscard]] Time timer() const noexcept { return looks_.empty() ? never : looks_.begin()->first; }
  /// When to wake up next, so as to be in time for that. Puts off the looks at deadlines that have moved.
  [[nodiscard]] Time wake_up(Time now) noexcept {
    while (timer() <= now + early_wake_ups_begin && has_moved(*looks_.begin()->second, now)) look_again();
    return next_wake_up(timer(), now);
  }
  /// One that is lost and was not told. Null: there is none.
  [[nodiscard]] std::shared_ptr<Kind> take_lost(Time now) noexcept {
    while (timer() <= now) {
      if (has_moved(*looks_.begin()->second, now)) {
        look_again();
        continue;
      }
      std::shared_ptr<Kind> lease = looks_.begin()->second;
      remove(lease);
      if (lease->loss(now) != Loss::none) return lease;
    }
    return nullptr;
  }

 private:
  static bool has_moved(const Kind& lease, Time now) noexcept {
    return lease.in_force(now) && lease.deadline() > lease.next_look;
  }
  /// At the first one, at its new deadline.
  void look_again() noexcept {
    const std::shared_ptr<Kind> lease = looks_.begin()->second;
    look_at(lease, lease->deadline());
  }
  void look_at(const std::shared_ptr<Kind>& lease, Time when) noexcept {
    auto look = looks_.extract({lease->next_look, lease});
    look.value().first = lease->next_look = when;
    looks_.insert(std::move(look));
  }

  std::set<std::pair<Time, std::shared_ptr<Kind>>> looks_;
};

}  // namespace redlock::inline v1::core
