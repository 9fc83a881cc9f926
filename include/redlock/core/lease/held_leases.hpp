// Whether a client holds leases, and until when.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "redlock/core/base/time.hpp"
#include "redlock/core/lease/lease_state.hpp"

namespace redlock::inline v1::core {

/// Counts the leases that one client holds, from their grant until they are released or orphaned, and knows a time by
/// which all of them have ended. A lost lease still counts until it is released, but its deadline stands.
///
/// Guarded by the client's mutex.
class HeldLeases {
 public:
  void granted(Time deadline) noexcept {
    ++count_;
    until_ = std::max(until_, deadline);
  }
  /// The lease has a later deadline.
  static void prolonged(const LeaseState& lease) noexcept {
    if (HeldLeases* const held = lease.held_leases) held->until_ = std::max(held->until_, lease.deadline());
  }
  /// The lease was released or orphaned.
  static void let_go(LeaseState& lease) noexcept {
    if (HeldLeases* const held = std::exchange(lease.held_leases, nullptr)) held->taken_back();
  }
  /// One of them is not kept.
  void taken_back() noexcept {
    if (--count_ == 0) until_ = Time::min();
  }

  /// No lease is in force at this time or later. May be too late after a lease was let go while others are held, is never
  /// too early. In the past if no lease is held.
  [[nodiscard]] Time until() const noexcept { return until_; }

 private:
  std::size_t count_ = 0;
  Time until_ = Time::min();
};

}  // namespace redlock::inline v1::core
