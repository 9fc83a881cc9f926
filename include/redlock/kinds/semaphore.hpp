// A distributed semaphore with the interface of a standard one.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/duration.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/lock_client.hpp"
#include "redlock/lock_result.hpp"
#include "redlock/options.hpp"

namespace redlock {
inline namespace v1 {

/// At most so many permits at a time, over all processes. The interface is that of `std::counting_semaphore`.
///
/// A permit is a lease of one of the *seats*: see `LockOptions::seats`, which says what that means, and is the better way where
/// each permit belongs to one piece of work: `client.lock("gpu", {.seats = 4})` returns a lease, which releases itself and
/// knows its loss. Here the semaphore keeps the leases, and `LockOptions::on_lost` reports losses.
///
/// Threads: any thread may make any call at any time, also `release` of what another thread acquired. It shares the
/// client's connections and keeps them alive: the client object may be moved or destroyed.
class REDLOCK_EXPORT Semaphore {
 public:
  /// Does no I/O. The first call that acquires reports invalid options and resources. `seats`: 1 to 1000; all users should
  /// agree. `LockOptions::seats` has no effect.
  Semaphore(LockClient& client, std::string_view resource, std::size_t seats, LockOptions options = {});
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;
  /// Releases all permits of this object, as `release` does. Precondition: no call is running.
  ~Semaphore();

  /// Blocks until a permit is acquired, even while too few nodes are reachable. Throws `Error` as `Mutex::lock` does.
  void acquire();
  /// Returns false if all seats are taken or others stand in line, and possibly if a seat has just become free; throws every
  /// other outcome of `LockClient::try_lock` as `Error`.
  [[nodiscard]] bool try_acquire();
  /// Returns false if no seat could be had within `wait`, or if that was too short for a majority of the nodes to answer; throws
  /// every other outcome of `LockClient::try_lock_for` as `Error`.
  [[nodiscard]] bool try_acquire_for(Duration wait);
  /// As `try_acquire_for`, until a time point of any clock. The clock is read once.
  template <class AnyClock, class AnyDuration>
  [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<AnyClock, AnyDuration>& deadline) {
    return try_acquire_for(
        detail::time_left(deadline.time_since_epoch(), AnyClock::now().time_since_epoch()));
  }
  /// Releases the permit that this object acquired last, and blocks as `Lease::release` does. Returns what that returns:
  /// `already_lost` means that somebody else may have had the seat meanwhile. Throws `Error` with
  /// `std::errc::operation_not_permitted` if this object has no permit. Otherwise it does not throw. In a child of fork(), as
  /// `Lease::release`.
  Release release();

  /// How many permits this object has acquired and not released. Some of them may be lost. In a child of fork(), 0 if another
  /// thread of the parent was using this object at that moment.
  [[nodiscard]] std::size_t permits() const noexcept;

 private:
  REDLOCK_INTERNAL bool keep(LockResult);

  LockClient client_;
  const std::string resource_;
  const LockOptions options_;
  mutable std::mutex mutex_;
  std::vector<Lease> permits_;  // under the mutex, in the order in which they were acquired
};

}  // namespace v1
}  // namespace redlock
