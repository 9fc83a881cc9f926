// Whether a client lets a node order its lines.
#pragma once

#include <chrono>
#include <optional>

#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::core {

/// Whether a client believes a node that orders lines. A gate is contradicted when a call gets the lock although the gate has
/// said for as long as a flag lives that others come first (`GateDoubt`). That happens with an honest gate too: if the first one
/// in line dies and the next one is paused, the flag ends before the gate steps over both. Then many calls may find that out at
/// the same time. So a client goes to another gate only if this one is contradicted again, at least the life of a flag later and
/// within ten minutes. Going without need costs all lines of this client at that gate their order.
class GateTrust {
 public:
  /// Returns true if the client does not believe the gate from now on.
  bool contradicted(Time now, Span flag_life) noexcept {
    if (contradicted_at_ && now < later(*contradicted_at_, flag_life)) return false;
    const bool is_again = contradicted_at_ && now < later(*contradicted_at_, memory);
    contradicted_at_ = now;
    if (is_again) lost_until_ = later(now, pause);
    return is_again;
  }
  [[nodiscard]] bool is_lost(Time now) const noexcept { return now < lost_until_; }

 private:
  static constexpr Span pause = std::chrono::minutes{1};
  static constexpr Span memory = std::chrono::minutes{10};  // so one contradiction suffices after the pause

  std::optional<Time> contradicted_at_;  // the last time that counted
  Time lost_until_{};
};

}  // namespace redlock::inline v1::core
