// What the attempts of one call for a lock have in common.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "redlock/core/base/backoff.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/lock/claim.hpp"
#include "redlock/core/lock/owner_values.hpp"
#include "redlock/core/lock/retry.hpp"
#include "redlock/core/operation/tally.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

/// A call for one attempt, or one that tries again until `give_up_at`.
enum class Attempts : bool { one, until_time };

/// One call for a lock.
struct LockCall {
  Claim claim;  ///< Without owner value and proposal. An adoption names the owner value that it takes over,
  std::uint64_t adopted_token = 0;  ///< and the token of that lock.
  std::size_t seats = 0;            ///< Of the semaphore whose name is the claim's key. Zero: a lock.
  Attempts attempts = Attempts::one;
  Time give_up_at = never;
  /// How long the call waits for nodes that have said when they vote again. None: a call for one attempt does not wait
  /// for them, and one that tries again waits until `give_up_at`.
  std::optional<Span> node_wait{};
  bool is_fair = false;           ///< Stands in line. Then the claim names the flag.
  bool insists_on_order = false;  ///< Fails if the nodes do not let it stand in line or heed the flag.
  OwnerValues owner_values;
  std::chrono::microseconds
      time_of_day{};       ///< At the call. Proposed as fencing counter, later with the time since.
  std::uint64_t seed = 0;  ///< For the jitter of pauses.

  [[nodiscard]] bool waits() const noexcept { return attempts == Attempts::until_time; }
};

/// When a call makes its attempts, and what is new in each.
class AttemptPlan {
 public:
  explicit AttemptPlan(LockCall& call) noexcept
      : call_{call}, retry_{call.give_up_at, call.waits(), call.node_wait} {}

  void begin(Time now) noexcept { begun_ = now; }
  [[nodiscard]] const Retry& retry() const noexcept { return retry_; }

  /// Gives a claim to the next attempt.
  void renew(Claim& claim, Time now) {
    const auto time_of_day =
        call_.time_of_day + std::chrono::duration_cast<std::chrono::microseconds>(now - begun_);
    claim.belong_to(call_.owner_values.next(time_of_day));
    if (claim.fence) claim.fence->proposal = proposal(time_of_day);
  }

  /// When to try again, after an attempt that lasted from `begun` to `now`. None: the call ends.
  [[nodiscard]] std::optional<Time> next(Errc why, const Tally& tally, Time begun, Time now) {
    return retry_.next(why, tally, begun, now, next_random(call_.seed));
  }

  /// What the call reports if its last attempt failed because of `why`.
  [[nodiscard]] Errc outcome(Errc why, const Tally& tally) const {
    if (why == Errc::timed_out && tally.votes() < quorum(tally.nodes())) return Errc::no_quorum;
    return why == Errc::held && call_.waits() ? Errc::timed_out : why;
  }

 private:
  /// Proposes the time of day as the fencing counter. This realigns counters that drifted apart, and lets counters that
  /// were lost continue near their old value. Safety does not depend on it.
  [[nodiscard]] std::uint64_t proposal(std::chrono::microseconds time_of_day) const noexcept {
    const auto since_epoch = static_cast<std::uint64_t>(std::max<std::int64_t>(time_of_day.count(), 0));
    return std::max(since_epoch, call_.adopted_token + 1);
  }

  LockCall& call_;
  Retry retry_;
  Time begun_{};
};

/// The user's ACL may forbid the flag's key, or only others. The next attempt, without the flag, shows it (`shows_rights`).
[[nodiscard]] inline bool lacks_right_to_flag(const Claim& claim, Errc why, const Tally& tally) noexcept {
  bool lacks_right = false;
  for (NodeIndex node = 0; node < tally.nodes(); ++node)
    lacks_right |=
        tally.is(node, Tally::Mark::unknown) && tally[node].trouble.status == NodeStatus::no_permission;
  return why == Errc::misconfigured && lacks_right && claim.heeds_flag;
}
/// An attempt that ended so had all rights that it needs.
[[nodiscard]] inline bool shows_rights(std::optional<Errc> failure) noexcept {
  return !failure || failure == Errc::held;
}

}  // namespace redlock::inline v1::core
