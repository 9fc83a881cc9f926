// Checks fencing tokens in the memory of the process that owns the resource.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "redlock/fencing_token.hpp"

namespace redlock {
inline namespace v1 {

/// Remembers the greatest fencing token it has seen and refuses smaller ones, so that a holder that lost its
/// lock cannot write any more.
///
///     redlock::HighWaterMark mark{table.greatest_token()};  // after a restart: what the store remembers
///     if (!mark.run(token, [&] { table.write(row); })) return refuse(token, mark.greatest());
///
/// | token                     | answer | the mark afterwards |
/// |---------------------------|--------|---------------------|
/// | greater than the mark     | true   | the token           |
/// | the mark                  | true   | the same            |
/// | smaller, or none (0)      | false  | the same            |
///
/// Equal tokens are admitted because they belong to the same holder, which may write several times.
///
/// Every write to the resource must go through this one object. If several processes write, the store itself
/// has to compare tokens. Use one object for each resource: tokens of different resources are unrelated.
///
/// Threads: any thread may make any call at any time.
class HighWaterMark {
 public:
  /// Starts without a mark: admits the first token of any value except "no token".
  HighWaterMark() = default;
  /// Starts from the greatest token admitted before. Use this after a restart: otherwise the first token is
  /// admitted, even that of a holder that has lost its lock.
  explicit HighWaterMark(FencingToken greatest) noexcept : greatest_{greatest} {}

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
    if (!raise(token)) return false;
    std::invoke(std::forward<Write>(write));
    return true;
  }

  /// Raises the mark and returns true unless the token is too small. This alone does not protect a write:
  /// during a pause between this call and the write, a later holder may be admitted and write. Use it only to
  /// refuse early what the store checks anyway, or where something else orders the writes. Otherwise use
  /// `run`.
  [[nodiscard]] bool admit(FencingToken token) {
    const std::lock_guard lock{mutex_};
    return raise(token);
  }

  /// Returns the greatest token admitted so far. Every refused token was smaller than this.
  [[nodiscard]] FencingToken greatest() const {
    const std::lock_guard lock{mutex_};
    return greatest_;
  }

 private:
  bool raise(FencingToken token) noexcept {
    if (token == FencingToken{} || token < greatest_) return false;
    greatest_ = token;
    return true;
  }

  mutable std::mutex mutex_;
  FencingToken greatest_;  // guarded by mutex_
};

}  // namespace v1
}  // namespace redlock
