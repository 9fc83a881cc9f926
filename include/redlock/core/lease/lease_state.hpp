// What is known of a lock that is held.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "redlock/core/base/time.hpp"
#include "redlock/core/lease/copies.hpp"
#include "redlock/core/lock/claim.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

class Renewals;
class WatchedLease;

/// One held lock: until when it lasts, and what became of it.
///
///     held ◀──▶ in doubt ──▶ lost (for one reason, for ever)
///       └───────────┴──────▶ released
///
/// Deadline, state and reason are one atomic word. So any thread may look at any time, a deadline that somebody has seen
/// pass is never moved again, and of all that may end a lease exactly one does. What else there is belongs to the
/// client's mutex.
class LeaseState {
 public:
  /// `ends_at`: it is never prolonged beyond this time.
  LeaseState(Claim what, Time valid_until, Time ends_at = never) noexcept
      : claim{std::move(what)}, ends_at_{ends_at}, word_{pack(std::min(valid_until, ends_at), Phase::held)} {}

  virtual ~LeaseState() = default;
  LeaseState(const LeaseState&) = delete;
  LeaseState& operator=(const LeaseState&) = delete;

  const Claim claim;
  Copies copies;

  Renewals* renewals = nullptr;   // who renews it, until it is over
  Time renewal_due = never;       // of these; `never`: an extension is under way
  WatchedLease* watch = nullptr;  // of `KeyWatcher`: who reads its copies, until it is over
  bool is_watched = false;        // of `LossQueue`
  Time next_look{};

  // ── from any thread ──────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] Time deadline() const noexcept { return deadline_of(word_.load(std::memory_order_acquire)); }
  /// Whoever sees the deadline pass makes it so.
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
  /// The deadline will not move any more.
  [[nodiscard]] bool is_final() const noexcept { return deadline() >= deadline_of(pack(ends_at_, held)); }

  // ── events; false: it was over already, and nothing has changed ──────────────────────────────────────────

  /// A majority has prolonged it; never shortens.
  bool prolong(Time valid_until, Time now) noexcept {
    return change(now, [&](Word word) {
      return pack(std::max(deadline_of(word), std::min(valid_until, ends_at_)), Phase::held);
    });
  }
  /// It was to be prolonged, and too few nodes answered.
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
  /// It was lost before its deadline; under the client's mutex.
  virtual void lost_early() noexcept {}

 private:
  using Word = std::int64_t;  // the deadline in nanoseconds, and a phase in the last four bits
  enum Phase : Word { held, in_doubt, released };  // and then the losses
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
