// When a call makes its next attempt.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "redlock/core/base/backoff.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/operation/tally.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

/// How long until a majority of the nodes could grant the lock, according to the remaining ttl of its copies. Nodes that
/// granted are free again already. Nodes that did not vote are assumed not to grant. Returns none if it is not known.
[[nodiscard]] inline std::optional<Span> majority_free_in(const Tally& tally) {
  std::vector<Span> times;
  for (NodeIndex node = 0; node < tally.nodes(); ++node) {
    if (tally.is(node, Tally::Mark::yes)) times.push_back(Span::zero());
    if (tally.is(node, Tally::Mark::no) && tally[node].ttl) times.push_back(*tally[node].ttl);
  }
  return smallest(times, quorum(tally.nodes()));
}

/// Polls with exponentially growing, jittered pauses, but not longer than until the holder's copies expire. The jitter
/// separates contenders that split the vote.
class Retry {
 public:
  /// `node_wait`: how long to wait for nodes that have said when they vote again. None: as long as the call waits.
  explicit Retry(Time give_up_at, bool waits = true, std::optional<Span> node_wait = std::nullopt) noexcept
      : give_up_at_{give_up_at}, waits_{waits}, node_wait_{node_wait} {}

  /// When a call tries again; none: it ends. Of a call that waits, as `after`. Any call waits for nodes.
  [[nodiscard]] std::optional<Time> next(Errc why, const Tally& tally, Time begun, Time now,
                                         std::uint64_t random) {
    const std::optional<Time> again = waits_ ? after(why, tally, begun, now, random) : std::nullopt;
    const std::optional<Span> votes_in =
        node_wait_ && why == Errc::no_quorum ? tally.majority_votes_in() : std::nullopt;
    if (!votes_in) {
      nodes_awaited_until_ = never;
      return again;
    }
    if (nodes_awaited_until_ == never) nodes_awaited_until_ = later(now, *node_wait_);
    if (now >= nodes_awaited_until_ || (waits_ && !again)) return std::nullopt;
    return std::min(again.value_or(later(now, std::clamp(*votes_in, shortest_pause, longest_pause))),
                    nodes_awaited_until_);
  }

  /// When to try again after an attempt that lasted from `begun` to `now` and failed because of `why`. Returns none if
  /// the call should end and report `why`. If the next pause would end too late, the last attempt is made just early
  /// enough to finish before the call's time is over.
  [[nodiscard]] std::optional<Time> after(Errc why, const Tally& tally, Time begun, Time now,
                                          std::uint64_t random) {
    if (why == Errc::misconfigured || why == Errc::cancelled || now >= give_up_at_) return std::nullopt;
    Span pause = backoff_.next(random);
    const Span free_in = majority_free_in(tally).value_or(Span::zero());
    if (why == Errc::held && free_in > Span::zero() && free_in < pause)
      pause = std::min(pause, free_in + jitter(random >> 32U));
    const Time next = later(now, pause);
    const Time latest = last_call(begun, now);
    if (next <= latest || give_up_at_ == never) return next;
    return now < latest ? latest : give_up_at_;
  }

  /// When the last attempt has to begin, to finish before the call's time is over as an attempt did that lasted from `begun`
  /// to `now`.
  [[nodiscard]] Time last_call(Time begun, Time now) const noexcept {
    if (give_up_at_ == never) return never;
    return give_up_at_ - 2 * std::max(now - begun, Span{std::chrono::milliseconds{1}});
  }
  /// The same if no attempt was made yet.
  [[nodiscard]] Time last_call_of_any(Time now, Span node_timeout) const noexcept {
    if (give_up_at_ == never) return never;
    return give_up_at_ - std::min(node_timeout, (give_up_at_ - now) / 4);
  }

 private:
  static Span jitter(std::uint64_t random) noexcept {
    return std::chrono::microseconds{1000 + static_cast<Span::rep>(random % 9000)};
  }

  static constexpr Span shortest_pause = std::chrono::milliseconds{10};
  static constexpr Span longest_pause = std::chrono::milliseconds{500};

  Time give_up_at_;
  bool waits_;
  std::optional<Span> node_wait_;
  Time nodes_awaited_until_ = never;  // while the attempts fail because of such nodes
  Backoff backoff_{std::chrono::milliseconds{10}, std::chrono::milliseconds{400}};
};

}  // namespace redlock::inline v1::core
