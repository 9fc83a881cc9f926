// When a member of a line stops to believe the gate that others come first, and when its client does.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::core {

/// A member that is not the first one relies on the gate. If the gate lies, nobody is the first one, and nobody keeps the
/// flag up. So a member that stands behind for as long as a flag lives makes an attempt as calls outside of the line make
/// it, and then again and again. If there is a first one, its flag denies these attempts. One that succeeds proves that
/// nobody keeps the flag up.
class GateDoubt {
 public:
  /// The gate says that others come first.
  void stands_behind(Time now, Span pause) noexcept {
    if (due_ == never) due_ = later(now, pause);
  }
  /// The member is the first one, or stands nowhere.
  void end() noexcept {
    due_ = never;
    is_asking_ = false;
  }
  /// Returns true if it is time for an attempt, which the member makes then.
  [[nodiscard]] bool asks(Time now, Span pause) noexcept {
    if (now < due_) return false;
    due_ = later(now, pause);
    return is_asking_ = true;
  }
  /// Returns true if the attempt was such a one, and the member still stands behind.
  bool end_attempt() noexcept { return std::exchange(is_asking_, false); }
  [[nodiscard]] Time timer() const noexcept { return due_; }

 private:
  Time due_ = never;  // never: does not stand behind
  bool is_asking_ = false;
};

/// Whether a client believes a node that orders its lines. An honest gate can be contradicted once: if the first one dies
/// and the next one is paused, the flag ends before the gate steps over both. In that time many calls of a client may get
/// locks, and nothing is wrong with the gate. So only a second contradiction counts, by a call that stood behind after the
/// first one. It costs the members of one line their order if a client goes to another gate without need.
class GateTrust {
 public:
  /// A call got the lock although the gate said for as long as a flag lives that others come first. Returns true if the
  /// client does not believe the gate from now on.
  bool contradicted(Time now, Span flag_life) noexcept {
    if (contradicted_at_ && now < later(*contradicted_at_, flag_life)) return false;
    const bool is_second = contradicted_at_ && now < later(*contradicted_at_, memory);
    contradicted_at_ = now;
    if (is_second) distrusted_until_ = later(now, pause);
    return is_second;
  }
  [[nodiscard]] bool is_lost(Time now) const noexcept { return now < distrusted_until_; }

 private:
  static constexpr Span pause = std::chrono::minutes{1};
  static constexpr Span memory = 2 * pause;

  std::optional<Time> contradicted_at_;
  Time distrusted_until_{};
};

}  // namespace redlock::inline v1::core
