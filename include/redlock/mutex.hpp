// A distributed lock with the interface of a standard mutex.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "redlock/duration.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/lock_client.hpp"
#include "redlock/options.hpp"

namespace redlock {
inline namespace v1 {

namespace detail {
class LocalMutex;
}

/// A *TimedLockable* for one resource, for use with `std::scoped_lock`, `std::unique_lock` and `std::lock`.
///
/// Threads that share a `Mutex` first take a local mutex, which stays locked until `unlock()`, even if the
/// lease is lost in the meantime. So no thread ever releases another thread's lease.
///
/// Guards cannot learn of a loss: check `lease()->remaining()` before critical work.
///
/// Threads: as `std::timed_mutex`. The thread that locks is the owner and has to unlock. A thread that locks twice gets an error
/// instead of waiting for itself: use `RecursiveMutex` for that. The mutex must outlive its guards. It shares the client's
/// connections and keeps them alive, as a lease does: the client object may be moved or destroyed.
///
/// fork(): a child process does not have its parent's lock: the calls that lock throw `Errc::invalid_argument` there.
class REDLOCK_EXPORT Mutex {
 public:
  /// Does no I/O. Throws `Error` (invalid_argument) if the options have seats or are shared. The first lock call reports other
  /// invalid options, and invalid resources.
  Mutex(LockClient& client, std::string_view resource, LockOptions options = {});
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  /// Precondition: not locked.
  ~Mutex();

  /// Blocks until the lock is acquired, even while too few nodes are reachable. Throws `Error`:
  /// invalid_argument, misconfigured, cancelled if the client was shut down, no_quorum after
  /// `LockOptions::node_wait`, or the system's error if it cannot provide the thread for renewals. A shutdown
  /// does not end the wait for another thread that has this mutex; the call throws once that thread unlocks.
  /// After a call that throws one of these, this thread has not locked the mutex.
  ///
  /// Throws `Error` with `std::errc::resource_deadlock_would_occur` if this thread has locked the mutex already, and so do
  /// all calls that try. Nothing has changed then: the mutex is still locked, and is to be unlocked once.
  void lock();
  /// Returns false if another thread has this mutex, or if somebody else has the lock or stands in line for it; throws every
  /// other outcome of `LockClient::try_lock` as `Error`.
  [[nodiscard]] bool try_lock();
  /// Returns false if the lock is still held after `wait`, or if that was too short for a majority of the nodes to answer; throws
  /// every other outcome of `LockClient::try_lock_for` as `Error`.
  [[nodiscard]] bool try_lock_for(Duration wait);
  /// As `try_lock_for`, until a time point of any clock. Waits until then for nodes as well: `LockOptions::node_wait` has no
  /// effect. A clock that is not steady is read once a second, so that its jumps are noticed, until two seconds are left. Then each
  /// second is a call of its own, which begins at the end of the line: where others wait, use a steady clock.
  template <class AnyClock, class AnyDuration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<AnyClock, AnyDuration>& deadline) {
    constexpr Duration round = std::chrono::seconds{1};
    for (;;) {
      const Duration left =
          detail::time_left(deadline.time_since_epoch(), AnyClock::now().time_since_epoch());
      // The last call is no shorter than the others, so that it finds out whether there is a quorum.
      if (AnyClock::is_steady || left.get() <= 2 * round.get()) return try_lock_for(left, Unreachable::wait);
      if (try_lock_for(round, Unreachable::ignore)) return true;
    }
  }
  /// Releases the lease and blocks as `Lease::release` does. `last_release()` returns the result. Throws `Error` with
  /// `std::errc::operation_not_permitted`, and changes nothing, if this thread has not locked the mutex: another one has,
  /// or it was unlocked before. Otherwise it does not throw.
  void unlock();

  /// Returns the result of the last `unlock()`; `Release::unknown` before the first. Call it while holding
  /// the lock, or while no other thread uses the mutex.
  [[nodiscard]] Release last_release() const noexcept { return last_release_; }
  /// Returns the lease while locked, else null. Call on the thread that holds the lock.
  [[nodiscard]] const Lease* lease() const noexcept { return lease_ ? &*lease_ : nullptr; }

 private:
  friend class RecursiveMutex;
  friend class SharedMutex;
  /// If there is no quorum: report it after `node_wait`, wait for it and report it at the end, or wait and return false.
  enum class Unreachable : std::uint8_t { report, wait, ignore };
  bool try_lock_for(Duration wait, Unreachable);
  [[nodiscard]] REDLOCK_INTERNAL bool is_mine() const noexcept;
  REDLOCK_INTERNAL void check_caller() const;
  REDLOCK_INTERNAL void check_lease() const;
  REDLOCK_INTERNAL bool keep(LockResult, std::unique_lock<detail::LocalMutex>&);

  LockClient client_;
  const std::string resource_;
  const LockOptions options_;
  const std::unique_ptr<detail::LocalMutex> local_;  // decides between threads of this process
  std::optional<Lease> lease_;                       // written by the thread that holds `local_`
  Release last_release_ = Release::unknown;          // likewise
};

}  // namespace v1
}  // namespace redlock
