// The order of leases for which something is due.
#pragma once

#include <string>

#include "redlock/core/lease/lease_state.hpp"
#include "redlock/core/lease/watched_lease.hpp"

namespace redlock::inline v1::core {

/// Orders pairs of a time and a lease by the time, and those of the same time by the owner value, so that a history can be
/// repeated: addresses differ from one run to the next.
struct DueOrder {
  template <class Due>
  [[nodiscard]] bool operator()(const Due& one, const Due& other) const noexcept {
    if (one.first != other.first) return one.first < other.first;
    const int difference = owner_of(*one.second).compare(owner_of(*other.second));
    return difference != 0 ? difference < 0 : one.second < other.second;
  }

 private:
  static const std::string& owner_of(const LeaseState& lease) noexcept { return lease.claim.owner; }
  static const std::string& owner_of(const WatchedLease& watch) noexcept { return owner_of(*watch.lease()); }
};

}  // namespace redlock::inline v1::core
