// One call for a lock: its attempts, and the pauses between them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "redlock/core/base/time.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "redlock/core/lock/claim.hpp"
#include "redlock/core/lock/retry.hpp"
#include "redlock/core/operation/tally.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

/// Decides what a call for a lock does next. The caller makes the attempts and sleeps. Used by the library and by the
/// simulator.
///
///     attempt ── failed ──▶ pause ── over ──▶ attempt …
///        │                    │
///        │ granted            └─ the call's time is over ─▶ end
///        ▼
///     the lease            attempt ── failed, and there is no other one ─▶ end
///
/// At the end `code()` and `tally()` give the reason why there is no lease. They describe the last attempt that ran to
/// completion: in an attempt that was cut short by the end of the call, some nodes had no time to answer.
class Pursuit {
 public:
  /// A call for one attempt, or one that tries again until `give_up_at`.
  enum class Attempts : bool { one, until_time };
  enum class Next : std::uint8_t { attempt, pause, end };

  /// `claim`: without owner value and proposal, which every attempt gets anew. An adoption names the owner value and the
  /// token of the lock that it takes over.
  ///
  /// `node_wait`: how long the call waits for nodes that have said when they vote again. None: a call for one attempt does
  /// not wait for them, and one that tries again waits until `give_up_at`.
  Pursuit(Claim claim, Attempts attempts, Time give_up_at, std::optional<Span> node_wait = std::nullopt,
          std::uint64_t adopted_token = 0)
      : attempts_{attempts},
        is_fenced_{claim.fence.has_value()},
        is_adoption_{!claim.adopted_owner.empty()},
        adopted_token_{adopted_token},
        node_wait_{node_wait},
        retry_{give_up_at},
        claim_{std::move(claim)} {
    give_up_at_ = attempts == Attempts::one ? never : give_up_at;
  }

  /// What the next attempt claims. `owner`: fresh for each. `proposal`: for the fencing counter.
  [[nodiscard]] Claim claim(std::string owner, std::uint64_t proposal) {
    const bool is_only_attempt = !waits() && !node_wait_;
    Claim claim = is_only_attempt ? std::move(claim_) : Claim{claim_};
    claim.owner = std::move(owner);
    if (claim.fence) claim.fence->proposal = is_adoption_ ? std::max(proposal, adopted_token_ + 1) : proposal;
    return claim;
  }
  /// Whether attempts need a proposal.
  [[nodiscard]] bool is_fenced() const noexcept { return is_fenced_; }
  [[nodiscard]] bool waits() const noexcept { return attempts_ == Attempts::until_time; }
  [[nodiscard]] Acquisition::Purpose purpose() const noexcept {
    return waits() ? Acquisition::Purpose::wait : Acquisition::Purpose::try_once;
  }
  /// When an attempt is to be given up.
  [[nodiscard]] Time give_up_at() const noexcept { return give_up_at_; }

  /// After an attempt that took from `begun` to `now` and ended without a lease. `random` is used by calls that wait.
  [[nodiscard]] Next failed(Errc why, Tally tally, Time begun, Time now, std::uint64_t random) {
    const std::optional<Time> again = next_attempt(why, tally, begun, now, random);
    if (why != Errc::timed_out || !last_) last_ = Failure{why, std::move(tally)};
    if (!again) return end();
    pause_until_ = *again;
    return Next::pause;
  }
  [[nodiscard]] Time pause_until() const noexcept { return pause_until_; }
  /// After a pause, whatever ended it.
  [[nodiscard]] Next pause_over(Time now) { return retry_.over(now) ? end() : Next::attempt; }

  // ── at the end ───────────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] Errc code() const noexcept { return last_->code; }
  [[nodiscard]] const Tally& tally() const noexcept { return last_->tally; }

 private:
  struct Failure {
    Errc code;
    Tally tally;
  };

  /// When to try again. None: the call ends.
  [[nodiscard]] std::optional<Time> next_attempt(Errc why, const Tally& tally, Time begun, Time now,
                                                 std::uint64_t random) {
    const std::optional<Time> again = waits() ? retry_.after(why, tally, begun, now, random) : std::nullopt;
    const std::optional<Span> votes_in =
        node_wait_ && why == Errc::no_quorum ? tally.majority_votes_in() : std::nullopt;
    if (!votes_in) {
      nodes_awaited_until_ = never;
      return again;
    }
    if (nodes_awaited_until_ == never) nodes_awaited_until_ = later(now, *node_wait_);
    if (now >= nodes_awaited_until_ || (waits() && !again)) return std::nullopt;
    return std::min(again.value_or(later(now, std::clamp(*votes_in, shortest_pause, longest_pause))),
                    nodes_awaited_until_);
  }

  Next end() {
    Errc& code = last_->code;
    const Tally& tally = last_->tally;
    if (code == Errc::timed_out && tally.votes() < quorum(tally.nodes())) code = Errc::no_quorum;
    // As long as a lock may be on its way to several adopters, or back to its owner, it is not lost.
    if (code == Errc::held && is_adoption_)
      code = tally.majority_has_one_owner() ? Errc::lost : Errc::no_quorum;
    if (code == Errc::held && waits()) code = Errc::timed_out;
    return Next::end;
  }

  static constexpr Span shortest_pause = std::chrono::milliseconds{10};
  static constexpr Span longest_pause = std::chrono::milliseconds{500};

  Attempts attempts_;
  bool is_fenced_;
  bool is_adoption_;
  std::uint64_t adopted_token_;
  std::optional<Span> node_wait_;
  Time nodes_awaited_until_ = never;  // while the attempts fail because of such nodes
  Time give_up_at_ = never;
  Retry retry_;
  Time pause_until_{};
  std::optional<Failure> last_;
  Claim claim_;  // moved to the attempt of a call that has only one
};

}  // namespace redlock::inline v1::core
