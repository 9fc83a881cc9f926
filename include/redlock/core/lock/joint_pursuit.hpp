// One call for several locks: its attempts, and the pauses between them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "redlock/core/base/time.hpp"
#include "redlock/core/line/lines.hpp"
#include "redlock/core/lock/attempt_plan.hpp"
#include "redlock/core/lock/joint_acquisition.hpp"
#include "redlock/core/lock/stay_in_line.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/operation/split_vote.hpp"
#include "redlock/core/operation/tally.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

/// Tries to get several locks, all or none, once or again and again, as `Pursuit` does for one. It holds none of them
/// between its attempts.
///
/// A fair call stands in the lines of all its locks. It joins them in the order of their keys: the next one only while it is
/// the first in all earlier ones, so that no two calls wait for each other. There it keeps its place, and others behind it,
/// until the last lock is free as well.
///
///     attempt ── a lock is held ──▶ in the first line ── first, and free ──▶ in the next line … ── all free ──▶ attempt
///                                       ▲                                        │
///                                       └──────────── not the first any more ────┘
class JointPursuit : public Operation {
 public:
  /// `claims`: in the order of their keys, without owner values and proposals. The claim of the call is not used.
  JointPursuit(LockCall&& call, std::vector<Claim>&& claims, std::size_t nodes)
      : nodes_{nodes}, call_{std::move(call)}, plan_{call_}, claims_{std::move(claims)} {
    for (std::size_t which = 0; which < claims_.size(); ++which) places_.emplace_back(*this, which);
    if (call_.waits()) give_up_at = call_.give_up_at;
  }

  void start(Time now, Outbox& outbox) override {
    plan_.begin(now);
    for (Place& place : places_) place.set_terms(claims_[place.which], now);
    const auto wants_to_join = [&](const Place& place) {
      return outbox.lines()->wants_to_join(place.terms().key, now);
    };
    if (!stands_in_line(now, outbox) || std::none_of(places_.begin(), places_.end(), wants_to_join))
      return attempt(now, outbox);
    stand(plan_.retry().last_call_of_any(now, claims_.front().node_timeout), now, outbox);
  }
  void answered(NodeIndex, Step, const Reply&, Time, Outbox&) override {}
  void disconnected(NodeIndex, const Trouble&, Time, Outbox&) override {}
  /// A pause is over, or the time in line.
  void timed_out(Time now, Outbox& outbox) override {
    set_deadline(never);
    if (done() || attempt_) return;
    // There was a majority to wait for, even if the time left is too short to ask it.
    if (is_standing_ && !failure_) failure_ = Failure{Errc::timed_out, std::nullopt, 0};
    leave_lines(now, outbox);
    attempt(now, outbox);
  }
  void child_ended(Operation&, Time now, Outbox& outbox) override {
    note_flag(now, outbox);
    if (!attempt_->granted()) return failed(*std::exchange(attempt_, {}), now, outbox);
    for (Place& place : places_) {
      const bool heeded_flag = (*attempt_)[place.which].claim().is_held_back_by_flag();
      if (place.is_joined) outbox.lines()->attempt_succeeded(place, heeded_flag, now);
    }
    for (Place& place : places_) place.end(StayInLine::Step::granted, now, outbox);
    finish();
  }
  void abandon(Errc why, Time now, Outbox& outbox) override {
    if (done()) return;
    if (attempt_) outbox.abandon(Ref<Operation>{attempt_.get()}, why);
    if (done()) return;  // with that attempt
    if (!failure_ || (why != Errc::timed_out && why != failure_->code))
      failure_ = Failure{why, std::nullopt, 0};
    end(now, outbox);
  }

  [[nodiscard]] bool sends() const noexcept override { return false; }
  [[nodiscard]] Time pauses_until() const noexcept override {
    return attempt_ || is_standing_ || done() ? Time::min() : deadline();
  }
  [[nodiscard]] std::size_t connections_wanted(std::size_t) const override { return 0; }
  [[nodiscard]] std::chrono::milliseconds wanted_ttl() const noexcept override {
    return claims_.front().key_ttl();
  }

  // ── once done ────────────────────────────────────────────────────────────────────────────────────────────

  struct Failure {
    Errc code;
    std::optional<Tally> tally;  ///< As for `Pursuit`.
    std::size_t which;           ///< Of the locks, with a tally.
  };
  /// The attempt that got the locks; null if none did. It lives as long as this operation.
  [[nodiscard]] JointAcquisition* granted() const noexcept { return attempt_.get(); }
  /// Call it at most once, if no attempt got the locks.
  [[nodiscard]] Failure take_failure() noexcept { return std::move(*failure_); }

 protected:
  [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }
  [[nodiscard]] bool is_standing() const noexcept { return is_standing_; }
  [[nodiscard]] Acquisition::Purpose purpose() const noexcept {
    return call_.waits() ? Acquisition::Purpose::wait : Acquisition::Purpose::try_once;
  }
  /// Makes one attempt at all locks.
  [[nodiscard]] virtual Ref<JointAcquisition> make_attempt(std::vector<Claim>&& claims) {
    return Ref<JointAcquisition>{new JointAcquisition{std::move(claims), nodes_, purpose()}};
  }

 private:
  /// The place in the line of one of the locks.
  struct Place final : Waiter {
    Place(JointPursuit& owner, std::size_t index) noexcept
        : which{index}, stay{owner.claims_[index].observed_as}, owner_{owner} {}

    void set_terms(const Claim& claim, Time now) {
      terms_ = {claim.key, now, claim.key_ttl(), claim.node_timeout, 0, claim.is_shared()};
    }
    void end(StayInLine::Step how, Time now, Outbox& outbox) {
      is_joined = false;
      stay.end(terms_.key, how, now, outbox.observer());
    }
    void attempt_in_line(Turn turn, Time now, Outbox& outbox) override {
      owner_.attempt_in_line(*this, turn, now, outbox);
    }
    void placed(std::size_t position, std::size_t length, Time now, Outbox& outbox) override {
      stay.placed(terms_.key, position, length, now, outbox.observer());
      is_behind = position > 1;
      flag_is_own = !is_behind;
      if (is_behind) owner_.fell_behind(*this, now, outbox);
    }
    void turned_away(Time now, Outbox& outbox) override { owner_.turned_away(now, outbox); }
    void refused(NodeIndex node, const Trouble& trouble, Time now, Outbox& outbox) override {
      owner_.refused(*this, node, trouble, now, outbox);
    }

    const std::size_t which;
    bool is_joined = false;
    bool is_first = false;     // in its line
    bool is_ready = false;     // likewise, and the lock was free since
    bool is_behind = false;    // the gate has said last that others come first
    bool flag_is_own = false;  // the call was the first one, and raised the flag
    StayInLine stay;
    SplitVote split_vote;

   private:
    JointPursuit& owner_;
  };

  [[nodiscard]] bool stands_in_line(Time now, Outbox& outbox) const noexcept {
    return call_.is_fair && call_.waits() && outbox.lines() && now >= polls_until_;
  }
  void stand(Time until, Time now, Outbox& outbox) {
    is_standing_ = true;
    set_deadline(until);
    join(places_.front(), now, outbox);
  }
  static void join(Place& place, Time now, Outbox& outbox) {
    place.is_joined = true;
    place.is_behind = place.flag_is_own = false;
    place.stay.begin(now);
    outbox.lines()->join(place);
  }
  /// An attempt that follows ignores the flags where the call was the first one, because they are its own.
  void leave_lines(Time now, Outbox& outbox) {
    is_standing_ = false;
    for (Place& place : places_) leave(place, now, outbox);
  }
  static void leave(Place& place, Time now, Outbox& outbox) {
    if (!place.is_joined) return;
    outbox.lines()->leave(place);
    place.end(StayInLine::Step::left, now, outbox);
  }
  /// Others stand before this call here, and may wait for locks whose lines it has joined since.
  void leave_later_lines(const Place& place, Time now, Outbox& outbox) {
    for (std::size_t which = place.which + 1; which < places_.size(); ++which) {
      leave(places_[which], now, outbox);
      places_[which].is_first = places_[which].is_ready = false;
    }
  }

  void attempt_in_line(Place& place, Waiter::Turn turn, Time now, Outbox& outbox) {
    if (turn == Waiter::Turn::own) place.is_first = place.is_ready = true;
    const auto is_ready = [](const Place& each) { return each.is_ready; };
    const auto next = std::find_if_not(places_.begin(), places_.end(), is_ready);
    const bool asks = turn == Waiter::Turn::others || next == places_.end() || place.is_behind;
    if (!attempt_ && asks) {
      attempt(now, outbox);
    } else {
      outbox.lines()->attempt_failed(place, LineHead::Attempt::put_off, now);
      if (!place.is_behind && next != places_.end() && !next->is_joined) join(*next, now, outbox);
    }
    // A head that was displaced before it had its turn has had it now.
    if (place.is_behind) place.is_first = place.is_ready = false;
  }
  void fell_behind(Place& place, Time now, Outbox& outbox) {
    place.is_first = place.is_ready = false;
    if (!attempt_) leave_later_lines(place, now, outbox);
  }
  void turned_away(Time now, Outbox& outbox) {
    leave_lines(now, outbox);
    set_deadline(never);
    if (!attempt_) attempt(now, outbox);
  }
  void refused(Place& place, NodeIndex node, const Trouble& trouble, Time now, Outbox& outbox) {
    polls_until_ = later(now, Lines::pause_after_refusal);
    place.stay.refused(place.terms().key, now, outbox.observer());
    if (!call_.insists_on_order) {
      outbox.lines()->warn_of_refusal(trouble);
      return turned_away(now, outbox);
    }
    failure_ = Failure{Errc::misconfigured, Tally{nodes_}, place.which};
    failure_->tally->mark(node, Tally::Mark::unknown, trouble);
    outbox.abandon(Ref<Operation>{this}, Errc::misconfigured);
  }

  void attempt(Time now, Outbox& outbox) {
    const bool heeds_flags =
        !flag_refused_ && (call_.insists_on_order || !outbox.lines() || outbox.lines()->heeds_flag(now));
    std::vector<Claim> claims = claims_;
    for (std::size_t which = 0; which < claims.size(); ++which) {
      const Place& place = places_[which];
      if (place.is_ready || place.flag_is_own || !heeds_flags) claims[which].heeds_flag = false;
      plan_.renew(claims[which], now);
    }
    attempt_ = make_attempt(std::move(claims));
    attempt_->parent = this;
    outbox.submit(Ref<Operation>{attempt_.get()});
  }

  void failed(JointAcquisition& attempt, Time now, Outbox& outbox) {
    const Errc why = *attempt.failure();
    Acquisition& denied = attempt[attempt.failed_at()];
    for (Place& place : places_)
      if (!place.is_joined) place.is_first = place.is_ready = place.flag_is_own = false;
    if (outbox.lines() && !call_.insists_on_order &&
        lacks_right_to_flag(denied.claim(), why, denied.tally())) {
      flag_refused_ = denied.tally();
      return this->attempt(now, outbox);
    }
    const std::optional<Time> again = plan_.next(why, denied.tally(), denied.begun(), now);
    const bool is_split = places_[attempt.failed_at()].split_vote.note(denied.tally());
    const Time last_call = plan_.retry().last_call(denied.begun(), now);
    if (why != Errc::timed_out || !failure_)
      failure_ = Failure{why, denied.take_tally(), attempt.failed_at()};
    if (!again) return end(now, outbox);
    if (why != Errc::held || now >= last_call || !stands_in_line(now, outbox)) {
      leave_lines(now, outbox);
      return set_deadline(*again);
    }
    if (!is_standing_) return stand(last_call, now, outbox);
    set_deadline(last_call);
    wait_again(places_[attempt.failed_at()], is_split, now, outbox);
  }
  void note_flag(Time now, Outbox& outbox) {
    const std::optional<Tally> refused = std::exchange(flag_refused_, std::nullopt);
    if (!refused || !shows_rights(attempt_->failure())) return;
    outbox.lines()->ignore_flag(*refused, now);
    Place& place = places_[attempt_->granted() ? 0 : attempt_->failed_at()];
    place.stay.refused(place.terms().key, now, outbox.observer());
  }
  /// After an attempt in line that was denied this lock. All lines read their locks again, behind the releases: nodes do not
  /// report this client's own changes, so what was read during the attempt would stand.
  void wait_again(Place& denied, bool is_split, Time now, Outbox& outbox) {
    denied.is_ready = false;
    const auto how = is_split ? LineHead::Attempt::split : LineHead::Attempt::denied;
    for (Place& place : places_)
      if (place.is_joined)
        outbox.lines()->attempt_failed(place, &place == &denied ? how : LineHead::Attempt::unclear, now);
    const auto behind = std::find_if(places_.begin(), places_.end(),
                                     [](const Place& each) { return each.is_joined && !each.is_first; });
    if (behind != places_.end()) leave_later_lines(*behind, now, outbox);
  }

  void end(Time now, Outbox& outbox) {
    leave_lines(now, outbox);
    finish();
    if (failure_->tally) failure_->code = plan_.outcome(failure_->code, *failure_->tally);
  }

  std::size_t nodes_;
  LockCall call_;
  AttemptPlan plan_;
  std::vector<Claim> claims_;
  std::deque<Place> places_;  // for each claim; lines refer to them
  Ref<JointAcquisition> attempt_;
  std::optional<Tally> flag_refused_;  // by the attempt before this one, it seems
  Time polls_until_ = Time::min();     // because it was refused in a line
  bool is_standing_ = false;
  std::optional<Failure> failure_;
};

}  // namespace redlock::inline v1::core
