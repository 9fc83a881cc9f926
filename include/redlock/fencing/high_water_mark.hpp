// Checks fencing tokens in the memory of the process that owns the resource.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "redlock/fencing_token.hpp"

namespace redlock {
inline namespace v1 {

/// Remembers the greatest fencing tokens it has seen and refuses smaller ones, so that a holder that lost its
/// lock cannot write any more.
///
///     redlock::HighWaterMark mark{table.greatest_token()};  // after a restart: what the store remembers
///     if (!mark.run(token, [&] { table.write(row); })) return refuse(token, mark.greatest());
///
/// There are two marks: the greatest token of a write, and the greatest token of a read by `run_shared`.
///
/// | call           | is admitted, and returns true, if its token        | and raises                         |
/// |----------------|----------------------------------------------------|------------------------------------|
/// | `run`, `admit` | is at least the mark of writes and that of reads   | the mark of writes to its token    |
/// | `run_shared`   | is at least the mark of writes                     | the mark of reads, if it is smaller |
///
/// A call that is refused changes no mark. "No token" (0) is always refused. Equal tokens are admitted because
/// they belong to the same holder, which may write several times, or to readers that share the lock.
///
/// `run_shared` is for the readers of a shared lock (`LockOptions::shared`). Their tokens are greater than
/// those of all earlier writers and smaller than those of all later ones, but have no order among each other.
/// So a reader is compared with writers only: compared with other readers, some that hold the lock would be
/// refused. A writer is compared with readers as well: otherwise one that lost its lock could change what a
/// later reader has just read. If the lock is never shared, `run` is all that is needed, for reads too.
///
/// Every write to the resource must go through this one object, and so must every read by readers that share
/// the lock. If several processes write, the store itself has to compare tokens. Use one object for each
/// resource: tokens of different resources are unrelated.
///
/// Threads: any thread may make any call at any time.
class HighWaterMark {
 public:
  /// Starts without a mark: admits the first token of any value except "no token".
  HighWaterMark() = default;
  /// Starts with both marks at the greatest token admitted before, of reads and writes. Use this after a
  /// restart: otherwise the first token is admitted, even that of a holder that has lost its lock. If that was
  /// a reader's token, readers with smaller ones are refused from now on, also those that still hold the lock;
  /// they have to acquire it again.
  explicit HighWaterMark(FencingToken greatest) noexcept : written_{greatest}, read_{greatest} {}

  /// Runs `write` unless the token is too small. Returns true if it ran `write`. Comparing and writing are
  /// one atomic step: no other token is checked in between. Concurrent calls therefore block each other, and
  /// `write` must not call this object.
  ///
  /// An exception from `write` is passed on to the caller and leaves the mark raised, because this holder may
  /// have written something already. Put reads that precede a write into `write` as well: an earlier holder
  /// can then no longer change what was read.
  template <class Write>
  [[nodiscard]] bool run(FencingToken token, Write&& write) {
    const std::lock_guard lock{mutex_};
    if (!raise_written(token)) return false;
    std::invoke(std::forward<Write>(write));
    return true;
  }

  /// Runs `read` unless a greater token has written. Returns true if it ran `read`. No write runs meanwhile,
  /// but other reads may, so `read` must change nothing without a lock of its own. It must not call this
  /// object. Afterwards, no writer with a smaller token is admitted.
  ///
  /// An exception from `read` is passed on to the caller and leaves the mark raised.
  template <class Read>
  [[nodiscard]] bool run_shared(FencingToken token, Read&& read) {
    const std::shared_lock lock{mutex_};
    if (!token || token < written_) return false;
    raise_read(token);
    std::invoke(std::forward<Read>(read));
    return true;
  }

  /// Raises the mark of writes and returns true unless the token is too small for a write. This alone does not
  /// protect a write: during a pause between this call and the write, a later holder may be admitted and write.
  /// Use it only to refuse early what the store checks anyway, or where something else orders the writes.
  /// Otherwise use `run`.
  [[nodiscard]] bool admit(FencingToken token) {
    const std::lock_guard lock{mutex_};
    return raise_written(token);
  }

  /// Returns the greatest token admitted so far, of reads and writes. Every refused token was smaller than this.
  [[nodiscard]] FencingToken greatest() const {
    const std::shared_lock lock{mutex_};
    return std::max(written_, read_.load());
  }

 private:
  bool raise_written(FencingToken token) noexcept {
    if (!token || token < written_ || token < read_.load()) return false;
    written_ = token;
    return true;
  }
  void raise_read(FencingToken token) noexcept {
    FencingToken seen = read_.load();
    while (seen < token && !read_.compare_exchange_weak(seen, token)) {
    }
  }

  mutable std::shared_mutex mutex_;  // held while something runs: shared by reads
  FencingToken written_;             // guarded by mutex_
  std::atomic<FencingToken> read_;   // raised by reads at the same time
};

}  // namespace v1
}  // namespace redlock
