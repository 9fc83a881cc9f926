// The state of a lock that was acquired: deadline, doubt, loss, release.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/base/time.hpp"
#include "redlock/core/lease/copies.hpp"
#include "redlock/core/lock/claim.hpp"
#include "redlock/core/wire/requests.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

class HeldLeases;
class Renewals;
class WatchedLease;

/// One held lock: its deadline and its state.
///
///     held ◀──▶ in doubt ──▶ lost (for one reason; final)
///       └───────────┴──────▶ released
///
/// Deadline, state and reason are stored in one atomic word. So any thread may read them at any time, a deadline is never
/// moved once any thread has seen it pass, and exactly one of several concurrent events ends a lease. All other members
/// are guarded by the client's mutex, unless they say otherwise.
class LeaseState {
 public:
  /// `ends_at`: the deadline is never moved beyond this time.
  LeaseState(Claim&& what, Time valid_until, Time ends_at = never) noexcept
      : claim{std::move(what)}, ends_at_{ends_at}, word_{pack(std::min(valid_until, ends_at), Phase::held)} {}

  virtual ~LeaseState() = default;
  LeaseState(const LeaseState&) = delete;
  LeaseState& operator=(const LeaseState&) = delete;

  const Claim claim;
  Copies copies;
  bool was_used =
      true;  // by a caller; else its release leaves nothing, whatever delay or minimum time the lock has

  std::string request_key{};  // of requests to this holder; empty if it is not to be told

  /// Others can ask to give the lock up from now on.
  void listen_to_requests() { request_key = core::request_key(claim.key, claim.owner); }

  HeldLeases* held_leases = nullptr;  // counts the lease until it is let go
  Renewals* renewals = nullptr;       // the schedule that renews the lease, until it is over
  Time renewal_due = never;           // for `Renewals`; `never` while an extension is under way
  WatchedLease* watch = nullptr;      // for `KeyWatcher`: reads the copies until the lease is over
  bool is_in_loss_queue = false;      // for `LossQueue`, guarded by the queue's owner
  Time next_check{};                  // for `LossQueue`, guarded by the queue's owner

  // ── from any thread ──────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] Time deadline() const noexcept { return deadline_of(word_.load(std::memory_order_acquire)); }
  /// The first call after the deadline ends the lease.
  [[nodiscard]] State state(Time now) const noexcept {
    switch (const Phase phase = phase_of(look(now))) {
      case Phase::held:
        return State::held;
      case Phase::in_doubt:
        return State::in_doubt;
      case Phase::released:
        return State::released;
      default:
        static_cast<void>(phase);
        return State::lost;
    }
  }
  [[nodiscard]] Loss loss(Time now) const noexcept {
    const Phase phase = phase_of(look(now));
    return phase > Phase::released ? static_cast<Loss>(phase - Phase::released) : Loss::none;
  }
  [[nodiscard]] bool in_force(Time now) const noexcept { return phase_of(look(now)) <= Phase::in_doubt; }
  /// The deadline cannot be moved any more.
  [[nodiscard]] bool is_final() const noexcept { return deadline() >= deadline_of(pack(ends_at_, held)); }

  /// Called under the client's mutex when somebody asks to give the lock up. `request_key` is empty from then on.
  virtual void asked(std::string_view /*why*/) noexcept {}

  // ── events; they return false and change nothing if the lease is over already ────────────────────────────

  /// A majority has prolonged the lease. Never moves the deadline back.
  bool prolong(Time valid_until, Time now) noexcept {
    return change(now, [&](Word word) {
      return pack(std::max(deadline_of(word), std::min(valid_until, ends_at_)), Phase::held);
    });
  }
  /// An extension failed because too few nodes answered.
  bool doubt(Time now) noexcept {
    return change(now, [](Word word) { return pack(deadline_of(word), Phase::in_doubt); });
  }
  bool lose(Loss reason, Time now) noexcept {
    const bool changed =
        change(now, [reason](Word word) { return pack(deadline_of(word), phase_of(reason)); });
    if (changed) lost_early();
    return changed;
  }
  bool release(Time now) noexcept {
    return change(now, [](Word word) { return pack(deadline_of(word), Phase::released); });
  }

 protected:
  /// Called under the client's mutex when the lease is lost before its deadline.
  virtual void lost_early() noexcept {}

 private:
  using Word = std::int64_t;  // the deadline in nanoseconds, with a phase in the lowest four bits
  enum Phase : Word { held, in_doubt, released };  // greater values: released + the value of a `Loss`
  static constexpr Word phases = 16;

  static constexpr Word pack(Time deadline, Word phase) noexcept {
    const Word count = deadline.time_since_epoch().count();
    return (count & ~(phases - 1)) | phase;  // rounded down
  }
  static constexpr Time deadline_of(Word word) noexcept { return Time{Span{word & ~(phases - 1)}}; }
  static constexpr Phase phase_of(Word word) noexcept { return static_cast<Phase>(word & (phases - 1)); }
  static constexpr Phase phase_of(Loss reason) noexcept {
    return static_cast<Phase>(Phase::released + static_cast<Word>(reason));
  }

  [[nodiscard]] Word look(Time now) const noexcept {
    Word word = word_.load(std::memory_order_acquire);
    while (phase_of(word) <= Phase::in_doubt && now >= deadline_of(word)) {
      const Word over = pack(deadline_of(word), phase_of(reason_at_deadline(word)));
      if (word_.compare_exchange_weak(word, over, std::memory_order_acq_rel)) return over;
    }
    return word;
  }
  [[nodiscard]] Loss reason_at_deadline(Word word) const noexcept {
    if (deadline_of(word) >= deadline_of(pack(ends_at_, 0))) return Loss::max_hold;
    return phase_of(word) == Phase::in_doubt ? Loss::no_quorum : Loss::deadline_passed;
  }

  template <class Change>
  bool change(Time now, Change change) noexcept {
    Word word = look(now);
    while (phase_of(word) <= Phase::in_doubt)
      if (word_.compare_exchange_weak(word, change(word), std::memory_order_acq_rel)) return true;
    return false;
  }

  const Time ends_at_;
  mutable std::atomic<Word> word_;
};

}  // namespace redlock::inline v1::core
