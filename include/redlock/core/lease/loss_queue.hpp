// The leases whose loss is to be reported, ordered by the time of the next check.
#pragma once

#include <memory>
#include <set>
#include <utility>

#include "redlock/core/base/early_wake_up.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/lease/due_order.hpp"
#include "redlock/core/lease/lease_state.hpp"

namespace redlock::inline v1::core {

/// Each loss is reported once, at the lease's deadline at the latest. `Kind` is a LeaseState.
///
/// Not thread safe. The client's mutex is not needed, because deadlines of leases can be read without it; so other work
/// of the client does not delay reports.
template <class Kind>
class LossQueue {
 public:
  /// Adds a lease: its loss will be reported.
  void add(const std::shared_ptr<Kind>& lease) {
    if (lease->is_in_loss_queue) return;
    const Time deadline = lease->deadline();  // read once, because it may change at any time
    checks_.emplace(deadline, lease);
    lease->next_check = deadline;
    lease->is_in_loss_queue = true;
  }
  /// Removes a lease, if it is in the queue: its loss will not be reported.
  void remove(const std::shared_ptr<Kind>& lease) noexcept {
    if (std::exchange(lease->is_in_loss_queue, false)) checks_.erase({lease->next_check, lease});
  }
  [[nodiscard]] bool contains(const Kind& lease) const noexcept { return lease.is_in_loss_queue; }
  /// The lease was lost before its deadline: `take_lost` returns it at once.
  void lost(const std::shared_ptr<Kind>& lease) noexcept {
    if (lease->is_in_loss_queue) reschedule(lease, Time::min());
  }

  /// When `take_lost` may have something to return. May be too early, is never too late.
  [[nodiscard]] Time timer() const noexcept { return checks_.empty() ? never : checks_.begin()->first; }
  /// When the caller should wake up next to be punctual for `timer()`. First postpones the checks of leases that were
  /// prolonged.
  [[nodiscard]] Time wake_up(Time now) noexcept {
    while (timer() <= now + early_wake_ups_begin && has_moved(*checks_.begin()->second, now))
      postpone_first();
    return next_wake_up(timer(), now);
  }
  /// Takes a lost lease out of the queue. Returns null if there is none.
  [[nodiscard]] std::shared_ptr<Kind> take_lost(Time now) noexcept {
    while (timer() <= now) {
      if (has_moved(*checks_.begin()->second, now)) {
        postpone_first();
        continue;
      }
      std::shared_ptr<Kind> lease = checks_.begin()->second;
      remove(lease);
      if (lease->loss(now) != Loss::none) return lease;
    }
    return nullptr;
  }

 private:
  static bool has_moved(const Kind& lease, Time now) noexcept {
    return lease.in_force(now) && lease.deadline() > lease.next_check;
  }
  /// Postpones the first check to the new deadline of its lease.
  void postpone_first() noexcept {
    const std::shared_ptr<Kind> lease = checks_.begin()->second;
    reschedule(lease, lease->deadline());
  }
  void reschedule(const std::shared_ptr<Kind>& lease, Time when) noexcept {
    auto check = checks_.extract({lease->next_check, lease});
    check.value().first = lease->next_check = when;
    checks_.insert(std::move(check));
  }

  std::set<std::pair<Time, std::shared_ptr<Kind>>, DueOrder> checks_;
};

}  // namespace redlock::inline v1::core
