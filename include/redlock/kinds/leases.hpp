// The leases of several locks that were acquired together.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "redlock/clock.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/lock_result.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

/// Several locks that are held together: what `LockClient::lock_all` and its like return. The destructor releases all of
/// them at once.
///
/// It is a sequence of `Lease`, in the order in which the resources were given. Each has a fencing token of its own, for writes to
/// its resource. Each renews itself, is watched and may be lost on its own. A lease that is released, orphaned or moved out
/// of here is the caller's business; the others stay.
///
/// Threads: as for `Lease`. While one is extended or released, no other call may change these leases.
class [[nodiscard]] REDLOCK_EXPORT Leases {
 public:
  /// No leases.
  Leases() noexcept = default;
  /// Keeps leases together that were acquired one by one. Those of one client are released together.
  explicit Leases(std::vector<Lease> all) noexcept : all_{std::move(all)} {}
  /// Leaves the source empty.
  Leases(Leases&& other) noexcept : all_{std::exchange(other.all_, {})} {}
  /// Releases the leases held so far, as `release()` does, then takes over the others. Self-move has no effect.
  Leases& operator=(Leases&&) noexcept;
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;
  /// Calls `release()`, which may block. Never throws.
  ~Leases();

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// Precondition: `which` is less than `size()`.
  [[nodiscard]] Lease& operator[](std::size_t which) noexcept { return all_[which]; }
  [[nodiscard]] const Lease& operator[](std::size_t which) const noexcept { return all_[which]; }
  [[nodiscard]] auto begin() noexcept { return all_.begin(); }
  [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
  [[nodiscard]] auto end() noexcept { return all_.end(); }
  [[nodiscard]] auto end() const noexcept { return all_.end(); }

  /// Returns true if all leases are valid, and there is one.
  [[nodiscard]] bool valid() const noexcept;
  /// Returns the first deadline of all leases; the clock's epoch if there is none.
  [[nodiscard]] Clock::time_point deadline() const noexcept;
  /// Returns the time left until the first deadline; zero if a lease is lost or released, or there is none.
  [[nodiscard]] Clock::duration remaining() const noexcept;

  /// Releases all locks together: each node gets their commands in batches of up to 512 KiB, about a thousand locks or a hundred
  /// with the longest names. Blocks as `Lease::release` does, once for each batch. Returns *released* if that is so for every lease, else *already_lost* if it
  /// is so for one, else *unknown*; `Lease::release` returns the outcome of each. Without leases returns *already_lost*.
  Release release() noexcept;

 private:
  std::vector<Lease> all_;
};

extern template class BasicLockResult<Leases>;

/// The leases of several locks, or why there are none. If there are none, the message names, after the outcome, the resource
/// whose lock was not acquired, and `nodes()` and `holder()` are about that one.
using LockAllResult = BasicLockResult<Leases>;

}  // namespace v1
}  // namespace redlock
