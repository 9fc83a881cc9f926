// Checks mutual exclusion within one process.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "redlock/clock.hpp"
#include "redlock/lease.hpp"

namespace redlock::testing {

/// Counts leases that overlap. Every lease and its end must be passed to it. Thread-safe.
template <std::size_t Resources>
class ExclusionChecker {
 public:
  /// To be called after the call that returned the lease. A former holder past its deadline does not count as an
  /// overlap, as others may have the lock by then.
  void acquired(std::size_t resource, const Lease& lease) {
    const Clock::rep now = Clock::now().time_since_epoch().count();
    const Clock::rep until = until_[resource].exchange(deadline_of(lease));
    if (until > now) ++overlaps_;
    ++leases_;
  }
  /// To be called before the release.
  void releasing(std::size_t resource, const Lease& lease) {
    Clock::rep mine = deadline_of(lease);
    until_[resource].compare_exchange_strong(mine, 0);
  }

  [[nodiscard]] int leases() const noexcept { return leases_; }
  [[nodiscard]] int overlaps() const noexcept { return overlaps_; }

 private:
  static Clock::rep deadline_of(const Lease& lease) { return lease.deadline().time_since_epoch().count(); }

  std::array<std::atomic<Clock::rep>, Resources> until_{};  // zero: free
  std::atomic<int> leases_{0};
  std::atomic<int> overlaps_{0};
};

}  // namespace redlock::testing
