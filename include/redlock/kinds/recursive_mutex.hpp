// A distributed lock that its thread may lock again.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

#include "redlock/duration.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/lock_client.hpp"
#include "redlock/mutex.hpp"
#include "redlock/options.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

/// A `Mutex` with the interface of `std::recursive_timed_mutex`: the thread that has locked it may lock it again. Its first
/// lock acquires the lease, and its last unlock releases it. What is in between does no I/O, and the lease and its fencing
/// token stay the same.
///
/// | for this thread, the mutex is        | `lock`                                 | `try_…` | `unlock`                           |
/// |--------------------------------------|----------------------------------------|---------|------------------------------------|
/// | not locked                           | as `Mutex::lock`                       | as `Mutex` does | throws `operation_not_permitted` |
/// | locked                               | one level more                         | true    | one level less; the last releases  |
/// | locked at `max_depth` levels         | throws `resource_unavailable_try_again` | false  | one level less; the last releases  |
/// | locked, and its lease was lost       | throws `Errc::lost`                    | throws `Errc::lost` | one level less; the last finds it lost |
///
/// A call that throws or returns false changes nothing: it has not locked, and must not be matched by an `unlock`. So after a
/// loss, the levels that the thread had locked before are still to be unlocked, as guards do it. Until then no other thread
/// gets the mutex. The thread's next lock acquires a new lease, with a new token.
///
/// Threads: the owner is the thread, whatever it runs. Coroutines and tasks that share a thread are not kept apart: give them
/// their own `Lease`, and pass it on. The mutex must outlive its guards. It shares the client's connections and keeps
/// them alive, as a lease does: the client object may be moved or destroyed.
///
/// fork(): a child process does not have its parent's lock: there, the thread's calls to lock throw `Errc::invalid_argument`.
class REDLOCK_EXPORT RecursiveMutex {
 public:
  /// `max_depth`: how often a thread may lock without unlocking, at least 1. Does no I/O. Throws `Error`
  /// (invalid_argument) if the options have seats or are shared. The first lock call reports other invalid options, and invalid
  /// resources and limits.
  RecursiveMutex(LockClient& client, std::string_view resource, LockOptions options = {},
                 std::size_t max_depth = std::numeric_limits<std::size_t>::max());
  RecursiveMutex(const RecursiveMutex&) = delete;
  RecursiveMutex& operator=(const RecursiveMutex&) = delete;
  /// Precondition: not locked.
  ~RecursiveMutex();

  /// Blocks and throws as `Mutex::lock` does, if this thread has not locked the mutex; otherwise see the table.
  void lock();
  /// Blocks and throws as `Mutex::try_lock` does, if this thread has not locked the mutex; otherwise see the table.
  [[nodiscard]] bool try_lock();
  /// As `try_lock`, but as `Mutex::try_lock_for`.
  [[nodiscard]] bool try_lock_for(Duration wait);
  /// As `try_lock`, but as `Mutex::try_lock_until`.
  template <class AnyClock, class AnyDuration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<AnyClock, AnyDuration>& deadline) {
    const std::optional<bool> again = lock_again();
    return again ? *again : first_lock(mutex_.try_lock_until(deadline));
  }
  /// Takes back one lock of this thread. The last one blocks as `Lease::release` does. Throws `Error` with
  /// `std::errc::operation_not_permitted`, and changes nothing, if this thread has not locked the mutex. Otherwise it does not
  /// throw.
  void unlock();

  /// As `Mutex::last_release`: the result of the last `unlock()` that released.
  [[nodiscard]] Release last_release() const noexcept { return mutex_.last_release(); }
  /// Returns the lease while locked, else null. Call on the thread that holds the lock.
  [[nodiscard]] const Lease* lease() const noexcept { return mutex_.lease(); }

 private:
  /// Returns none if this thread has not locked the mutex; otherwise locks it again, and returns false at `max_depth`.
  std::optional<bool> lock_again();
  bool first_lock(bool is_locked) noexcept;

  Mutex mutex_;
  const std::size_t max_depth_;
  std::size_t depth_ = 0;  // used by the thread that has locked `mutex_`
};

}  // namespace v1
}  // namespace redlock
