// A distributed lock in the shape that the standard's guards expect.
#pragma once

#include <chrono>
#include <condition_variable>
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

/// *TimedLockable* over one resource: for `std::scoped_lock`, `std::unique_lock` and `std::lock`.
///
/// Between threads of one `Mutex` a local mutex decides first, and is kept from lock to unlock, also when the
/// lease is lost meanwhile: so no thread ever releases another one's lease. Guards cannot hear of a loss. So the
/// lease renews itself, unless `LockOptions::auto_renew` says otherwise; read `lease()->remaining()` before work
/// that matters.
///
/// Threads: as `std::timed_mutex`; not recursive; unlock on the locking thread. The client must outlive the
/// mutex, the mutex its guards.
class REDLOCK_EXPORT Mutex {
 public:
  /// No I/O. Bad options and resources are reported by the first lock call.
  Mutex(LockClient& client, std::string_view resource, LockOptions options = {});
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  /// Blocks until acquired, while nodes are missing too. Throws `Error` (misconfigured; cancelled, once the client is shut
  /// down and no other thread has the mutex), or std::system_error when the system has no thread for renewals; the mutex is
  /// then not locked, as after every call that throws.
  void lock();
  /// False: another thread or another process has it. Throws `Error` as `LockClient::try_lock` does.
  [[nodiscard]] bool try_lock();
  /// False: still held after the time. Throws `Error` as `LockClient::try_lock_for` does.
  [[nodiscard]] bool try_lock_for(Duration wait);
  /// The same until a time point of any clock. A foreign clock is read anew every second at least, so that a
  /// jump of it is followed.
  template <class AnyClock, class AnyDuration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<AnyClock, AnyDuration>& deadline) {
    constexpr Duration round = std::chrono::seconds{1};
    for (;;) {
      const Duration left = time_left(deadline.time_since_epoch(), AnyClock::now().time_since_epoch());
      if (left <= round) return try_lock_for(left);
      if (try_lock_for(round, Unreachable::keep_trying)) return true;
    }
  }
  /// Releases the lease, which blocks as `Lease::release` does; what came of it is in `last_release()`.
  /// Precondition: locked by this thread.
  void unlock() noexcept;

  /// What the last `unlock()` found; `Release::unknown` before the first. Call while locked, or with no other
  /// thread about.
  [[nodiscard]] Release last_release() const noexcept { return last_release_; }
  /// The lease while locked, else null. Call on the thread that holds the lock.
  [[nodiscard]] const Lease* lease() const noexcept { return lease_ ? &*lease_ : nullptr; }

 private:
  /// Whether too few nodes at the end of a round end the whole call.
  enum class Unreachable : bool { report, keep_trying };
  bool try_lock_for(Duration wait, Unreachable);
  /// Saturates: a time point may be as far away as its type allows, and now may be negative.
  static Duration time_left(Duration deadline, Duration now) {
    using Nanoseconds = std::chrono::duration<long double, std::nano>;
    return deadline <= now ? Duration{} : Duration{Nanoseconds{deadline.get()} - Nanoseconds{now.get()}};
  }

  /// What std::timed_mutex is, of parts that thread sanitizers understand: GCC's, up to version 12 at least,
  /// does not see who gets a std::timed_mutex with a limit, and reports races where there are none.
  class Turn {
   public:
    void lock();
    [[nodiscard]] bool try_lock();
    [[nodiscard]] bool try_lock_until(std::chrono::steady_clock::time_point deadline);
    void unlock() noexcept;

   private:
    std::mutex mutex_;
    std::condition_variable freed_;
    bool taken_ = false;
  };

  LockClient& client_;
  const std::string resource_;
  const LockOptions options_;
  Turn local_;
  std::optional<Lease> lease_;               // written by the thread that holds local_
  Release last_release_ = Release::unknown;  // likewise
};

}  // namespace v1
}  // namespace redlock
