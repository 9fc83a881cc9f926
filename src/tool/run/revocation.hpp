// What happens to a command when somebody asks for its lock.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "redlock/clock.hpp"
#include "redlock/core/base/printable.hpp"
#include "tool/output.hpp"
#include "tool/watch/termination.hpp"

namespace redlock::tool {

/// Ends the command when it is asked to, not before it has begun and not after it has ended. Thread safe.
class Revocation {
 public:
  /// `grace`: how long after SIGTERM the command is killed.
  Revocation(Termination& termination, Clock::duration grace) : termination_{termination}, grace_{grace} {}

  /// What a lease calls when somebody asks for the lock. Must not be called after this object has ended. It waits a moment if
  /// nobody reads stderr, but not before the command has got its signal.
  [[nodiscard]] std::function<void(std::string_view)> callback() {
    return [this](std::string_view why) {
      if (!ask()) return;
      tell_briefly(
          "redlock: asked to give up the lock, so the command is terminated: " + core::printable(why) + '\n');
    };
  }
  /// The command runs from now on.
  void begin() {
    const std::lock_guard lock{mutex_};
    has_begun_ = true;
    if (is_asked_) termination_.end_within(grace_);
  }
  /// The command has ended. When this returns, no more signals are sent, and later requests have no effect.
  void end() {
    const std::lock_guard lock{mutex_};
    has_ended_ = true;
  }
  /// Returns true if somebody asked before the command ended.
  [[nodiscard]] bool is_asked() {
    const std::lock_guard lock{mutex_};
    return is_asked_;
  }

 private:
  /// Returns false if it is too late.
  bool ask() {
    const std::lock_guard lock{mutex_};
    if (has_ended_) return false;
    is_asked_ = true;
    if (has_begun_) termination_.end_within(grace_);
    return true;
  }

  Termination& termination_;
  const Clock::duration grace_;
  std::mutex mutex_;
  bool is_asked_ = false;   // guarded by the mutex
  bool has_begun_ = false;  // guarded by the mutex
  bool has_ended_ = false;  // guarded by the mutex
};

}  // namespace redlock::tool
