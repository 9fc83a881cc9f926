// When a member of a line stops believing the gate that others come first.
#pragma once

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

}  // namespace redlock::inline v1::core
