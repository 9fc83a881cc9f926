// A distributed reader-writer lock with the interface of a standard one.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "redlock/duration.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/lock_client.hpp"
#include "redlock/lock_result.hpp"
#include "redlock/mutex.hpp"
#include "redlock/options.hpp"

namespace redlock {
inline namespace v1 {

/// A *SharedTimedLockable* for one resource, as `std::shared_timed_mutex`, for use with `std::shared_lock` and
/// `std::unique_lock`: one writer at a time, or any number of readers (docs/shared-locks.md).
///
/// The exclusive side is a `Mutex` of the resource: it excludes other `Mutex`es and Redlock clients as well. The shared side
/// acquires leases with `LockOptions::shared`. Threads share such a lease: whoever locks while two thirds of its ttl are left
/// joins it without I/O, and the last one to unlock releases it. Later ones acquire another lease, even if this one is renewed,
/// so that threads that overlap do not keep writers out for good.
///
/// | this thread has locked it | `lock`, `try_lock…`, `lock_shared`, `try_lock_shared…` | `unlock`  | `unlock_shared` | `unlock_and_lock_shared` |
/// |---------------------------|---------------------------------------------|-----------|-----------------|--------------------------|
/// | exclusively               | throw `resource_deadlock_would_occur`       | unlocks   | throws `operation_not_permitted` | becomes a reader |
/// | shared                    | throw `resource_deadlock_would_occur`       | throws `operation_not_permitted` | unlocks | throws `operation_not_permitted` |
/// | not                       | lock                                        | throw `operation_not_permitted` | | |
///
/// So nobody upgrades: two readers who both waited to become the writer would wait for each other. Unlock, lock, and look again.
///
/// Guards cannot learn of a loss: check `lease()->remaining()` before critical work.
///
/// Threads: as `std::shared_timed_mutex`. The mutex must outlive its guards. It shares the client's connections and keeps them
/// alive, as a lease does: the client object may be moved or destroyed.
///
/// fork(): a child process has no lock of its parent, and joins none: the calls that lock throw `Errc::invalid_argument` there.
class REDLOCK_EXPORT SharedMutex {
 public:
  /// Does no I/O. Throws `Error` (invalid_argument) if the options have seats. The first lock call reports other invalid
  /// options, and invalid resources. `LockOptions::shared` has no effect, and `at_least` none on readers.
  SharedMutex(LockClient& client, std::string_view resource, LockOptions options = {});
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;
  /// Precondition: not locked.
  ~SharedMutex();

  /// Blocks and throws as `Mutex::lock` does, also while readers have the lock.
  void lock();
  /// As `Mutex::try_lock`.
  [[nodiscard]] bool try_lock();
  /// As `Mutex::try_lock_for`.
  [[nodiscard]] bool try_lock_for(Duration wait);
  /// As `Mutex::try_lock_until`.
  template <class AnyClock, class AnyDuration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<AnyClock, AnyDuration>& deadline) {
    check_caller();
    return writer_.try_lock_until(deadline);
  }
  /// As `Mutex::unlock`.
  void unlock();

  /// Blocks until this thread is a reader, even while too few nodes are reachable. Throws `Error` as `Mutex::lock` does.
  void lock_shared();
  /// Returns false if a writer has the lock or waits for it; throws every other outcome of `LockClient::try_lock` as `Error`.
  [[nodiscard]] bool try_lock_shared();
  /// Returns false if this thread could not become a reader within `wait`, because writers have the lock or wait for it, or
  /// because that was too short for a majority of the nodes to answer; throws every other outcome of `LockClient::try_lock_for`
  /// as `Error`.
  [[nodiscard]] bool try_lock_shared_for(Duration wait);
  /// As `try_lock_shared_for`, until a time point of any clock. The clock is read once.
  template <class AnyClock, class AnyDuration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<AnyClock, AnyDuration>& deadline) {
    return try_lock_shared_for(
        detail::time_left(deadline.time_since_epoch(), AnyClock::now().time_since_epoch()));
  }
  /// The last thread of a lease releases it and blocks as `Lease::release` does. Throws `Error` with
  /// `std::errc::operation_not_permitted`, and changes nothing, if this thread has not locked it shared. Otherwise it does not
  /// throw.
  void unlock_shared();

  /// The writer becomes a reader, and no other writer has the lock in between. Blocks as `LockClient::downgrade` does. Throws
  /// `Error` as that call reports it (`lost`, `no_quorum`, `too_slow`, `misconfigured`): then this thread has not locked the
  /// mutex any more, and must not unlock it. Throws `invalid_argument`, and the thread is still the writer, while
  /// `LockOptions::at_least` is not over. The name is that of Boost.Thread.
  void unlock_and_lock_shared();

  /// Returns the lease of this thread, which other readers may share; null if this thread has not locked the mutex. Valid until
  /// this thread unlocks. In a child of fork(), null also if another thread of the parent was using this object at that moment.
  [[nodiscard]] const Lease* lease() const;

 private:
  /// One shared lease, with the threads that have it.
  struct Readers {
    Lease lease;
    Clock::time_point joined_until;
    std::size_t count = 0;
  };

  REDLOCK_INTERNAL void check_caller() const;
  REDLOCK_INTERNAL bool is_reader() const;
  REDLOCK_INTERNAL bool join();
  REDLOCK_INTERNAL bool keep(LockResult);
  REDLOCK_INTERNAL void add(Lease&&);

  LockClient client_;
  const std::string resource_;
  const LockOptions options_;  // of readers
  Mutex writer_;
  mutable std::mutex mutex_;
  std::shared_ptr<Readers> newest_;                              // under the mutex; null if nobody can join
  std::map<std::thread::id, std::shared_ptr<Readers>> readers_;  // under the mutex
};

}  // namespace v1
}  // namespace redlock
