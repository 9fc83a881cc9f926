// The greatest fencing token so far, in the memory of the process that owns the resource.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "redlock/fencing_token.hpp"

namespace redlock {
inline namespace v1 {

/// Refuses holders who lost their lock: remembers the greatest token that it has seen and admits none below.
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
/// Equal tokens pass because they are one holder's: its writes are many, its token is one. Requires that every write
/// to the resource goes through this one object; where several processes write, the store itself has to compare. One
/// mark guards one resource: tokens of different resources have nothing to do with each other.
///
/// Threads: every call from any thread.
class HighWaterMark {
 public:
  /// Admits every token at first.
  HighWaterMark() = default;
  /// Goes on from what was admitted before. A mark that begins at none again admits whoever comes first, even if that
  /// is the holder who lost its lock.
  explicit HighWaterMark(FencingToken greatest) noexcept : greatest_{greatest} {}

  /// Runs `write` unless the token is too small, and returns whether it has. Comparing and writing are one step: no
  /// other token is judged in between. So calls wait for each other, and `write` must not call this object.
  ///
  /// What `write` throws goes to the caller, with the mark raised: what was written until then is this holder's.
  /// Reading before a write belongs in here too: from then on the earlier holder cannot change what was read.
  template <class Write>
  [[nodiscard]] bool run(FencingToken token, Write&& write) {
    const std::lock_guard lock{mutex_};
    if (!raise(token)) return false;
    std::invoke(std::forward<Write>(write));
    return true;
  }

  /// Whether the token is not too small, now. Between the answer and a write that relies on it a pause fits, in which
  /// a later holder is admitted and writes: the very hole that tokens are there to close. Good for turning away early
  /// what the store will check anyway, or where something else keeps the order; else use `run`.
  [[nodiscard]] bool admit(FencingToken token) {
    const std::lock_guard lock{mutex_};
    return raise(token);
  }

  /// The greatest token admitted so far: what a refused one was smaller than, at least.
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
  FencingToken greatest_;  // under mutex_
};

}  // namespace v1
}  // namespace redlock
