// Mutual exclusion as seen from inside one process.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "redlock/clock.hpp"
#include "redlock/lease.hpp"

namespace redlock::testing {

/// Is told of every lease and of its end, and notices when two were in force at once. Any thread.
template <std::size_t Resources>
class Witness {
 public:
  /// After the call that returned the lease. A former holder that overran its deadline is no witness: from
  /// there on the lock is anybody's.
  void acquired(std::size_t resource, const Lease& lease) {
    const Clock::rep now = Clock::now().time_since_epoch().count();
    const Clock::rep until = until_[resource].exchange(deadline_of(lease));
    if (until > now) ++overlaps_;
    ++leases_;
  }
  /// Before the call that gives the lock back.
  void leaving(std::size_t resource, const Lease& lease) {
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
