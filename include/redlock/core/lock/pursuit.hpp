// One call for a lock: its attempts, and the pauses between them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "redlock/core/base/time.hpp"
#include "redlock/core/line/lines.hpp"
#include "redlock/core/lock/acquisition.hpp"
#include "redlock/core/lock/attempt_plan.hpp"
#include "redlock/core/lock/claim.hpp"
#include "redlock/core/lock/seat_search.hpp"
#include "redlock/core/lock/stay_in_line.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/operation/split_vote.hpp"
#include "redlock/core/operation/tally.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

/// Tries to get a lock once, or again and again until the call's time is over:
///
///     attempt ── failed ──▶ pause ── over ──▶ attempt …
///        │                    │
///        │ granted            └─ the call's time is over ─▶ done: failed
///        ▼
///     done: granted        attempt ── failed, and there is no other one ─▶ done: failed
///
/// A call that is fair stands in line (`Lines`) while another client holds the lock, and makes its next attempt when it is
/// the first one there. Only its attempts outside of the line heed the flag, which keeps them behind those who stand there.
///
/// Each attempt is an `Acquisition`, which it submits. It sends nothing itself, and nothing is under way in a pause.
class Pursuit : public Operation, public Waiter, private SeatSearch::Caller {
 public:
  using Attempts = core::Attempts;
  using Call = LockCall;

  /// Why there is no lease. Describes the last attempt that ran to completion: in an attempt that was cut short by the end
  /// of the call, some nodes had no time to answer.
  struct Failure {
    Errc code;
    std::optional<Tally>
        tally;  ///< None: no attempt ran to completion. The call was cancelled, or stood in line.
  };

  Pursuit(Call&& call, std::size_t nodes)
      : nodes_{nodes},
        is_adoption_{!call.claim.adopted_owner.empty()},
        call_{std::move(call)},
        plan_{call_},
        stay_{call_.claim.observed_as} {
    if (call_.waits()) give_up_at = call_.give_up_at;
  }

  void start(Time now, Outbox& outbox) override {
    plan_.begin(now);
    if (!stands_in_line(now, outbox)) return attempt(now, outbox);
    terms_ = {line_key(),
              now,
              call_.claim.key_ttl(),
              call_.claim.node_timeout,
              call_.seats,
              call_.claim.is_shared()};
    if (!outbox.lines()->wants_to_join(terms_.key, now)) return attempt(now, outbox);
    stand(plan_.retry().last_call_of_any(now, call_.claim.node_timeout), now, outbox);
  }
  void answered(NodeIndex, Step, const Reply&, Time, Outbox&) override {}
  void disconnected(NodeIndex, const Trouble&, Time, Outbox&) override {}
  /// A pause is over, or the time in line.
  void timed_out(Time now, Outbox& outbox) override {
    set_deadline(never);
    if (done() || attempt_.operation) return;
    // There was a majority to wait for, even if the time left is too short to ask it.
    if (is_standing_ && !failure_) failure_ = Failure{Errc::timed_out, std::nullopt};
    leave_line(now, outbox);
    attempt(now, outbox);
  }
  void child_ended(Operation& /*child*/, Time now, Outbox& outbox) override {
    if (search_) attempt_.acquisition = search_->last();
    note_flag(*attempt_.acquisition, now, outbox);
    if (attempt_.acquisition->granted()) {
      const bool heeded_flag = attempt_.acquisition->claim().is_held_back_by_flag();
      if (is_standing_) outbox.lines()->attempt_succeeded(*this, heeded_flag, now);
      stay_.end(call_.claim.key, StayInLine::Step::granted, now, outbox.observer());
      return finish();
    }
    const Attempt ended = std::exchange(attempt_, {});
    search_ = nullptr;
    failed(*ended.acquisition, now, outbox);
  }
  void abandon(Errc why, Time now, Outbox& outbox) override {
    if (done()) return;
    const Ref<Operation> attempt = attempt_.operation;  // keeps it: its end comes back here
    if (attempt) outbox.abandon(attempt, why);
    if (done()) return;  // with that attempt
    if (!failure_ || (why != Errc::timed_out && why != failure_->code)) failure_ = Failure{why, std::nullopt};
    end(now, outbox);
  }

  // ── from the line ────────────────────────────────────────────────────────────────────────────────────────

  void attempt_in_line(Turn turn, Time now, Outbox& outbox) override {
    attempt(now, outbox, turn == Turn::own);
  }
  void placed(std::size_t position, std::size_t length, Time now, Outbox& outbox) override {
    stay_.placed(call_.claim.key, position, length, now, outbox.observer());
  }
  void turned_away(Time now, Outbox& outbox) override {
    is_standing_ = false;
    stay_.end(call_.claim.key, StayInLine::Step::left, now, outbox.observer());
    set_deadline(never);
    attempt(now, outbox);
  }
  void refused(NodeIndex node, const Trouble& trouble, Time now, Outbox& outbox) override {
    polls_until_ = later(now, Lines::pause_after_refusal);
    stay_.refused(call_.claim.key, now, outbox.observer());
    if (!call_.insists_on_order) {
      outbox.lines()->warn_of_refusal(trouble);
      return turned_away(now, outbox);
    }
    is_standing_ = false;
    failure_ = Failure{Errc::misconfigured, Tally{nodes_}};
    failure_->tally->mark(node, Tally::Mark::unknown, trouble);
    outbox.abandon(Ref<Operation>{this}, Errc::misconfigured);
  }

  [[nodiscard]] bool sends() const noexcept override { return false; }
  [[nodiscard]] Time pauses_until() const noexcept override {
    return attempt_.operation || is_standing_ || done() ? Time::min() : deadline();
  }
  [[nodiscard]] std::size_t connections_wanted(std::size_t) const override { return 0; }
  [[nodiscard]] std::chrono::milliseconds wanted_ttl() const noexcept override {
    return call_.claim.key_ttl();
  }

  // ── once done ────────────────────────────────────────────────────────────────────────────────────────────

  /// The attempt that got the lock; null if none did. It lives as long as this operation.
  [[nodiscard]] Acquisition* granted() const noexcept { return attempt_.acquisition; }
  /// Call it at most once, if no attempt got the lock.
  [[nodiscard]] Failure take_failure() noexcept { return std::move(*failure_); }

 protected:
  using Attempt = core::Attempt;
  /// Tests change claims and wrap acquisitions here.
  [[nodiscard]] virtual Attempt make_attempt(Claim&& claim) {
    auto* const acquisition = new Acquisition{std::move(claim), nodes_, purpose()};
    return {Ref<Operation>{acquisition}, acquisition};
  }
  [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }
  [[nodiscard]] bool is_standing() const noexcept { return is_standing_; }
  /// The attempt is one of the first one in line.
  [[nodiscard]] bool is_in_turn() const noexcept { return is_in_turn_; }
  [[nodiscard]] Acquisition::Purpose purpose() const noexcept {
    return call_.waits() ? Acquisition::Purpose::wait : Acquisition::Purpose::try_once;
  }

 private:
  [[nodiscard]] std::string line_key() const {
    return call_.seats > 0 ? line_of_seats(call_.claim.key) : call_.claim.key;
  }
  [[nodiscard]] bool stands_in_line(Time now, Outbox& outbox) const noexcept {
    return call_.is_fair && call_.waits() && outbox.lines() && now >= polls_until_;
  }
  void stand(Time until, Time now, Outbox& outbox) {
    is_standing_ = true;
    stay_.begin(now);
    set_deadline(until);
    outbox.lines()->join(*this);
  }
  void leave_line(Time now, Outbox& outbox) {
    if (!std::exchange(is_standing_, false)) return;
    outbox.lines()->leave(*this);
    stay_.end(call_.claim.key, StayInLine::Step::left, now, outbox.observer());
  }

  void attempt(Time now, Outbox& outbox, bool is_in_turn = false) {
    is_in_turn_ = is_in_turn;
    heeds_flag_ = !is_in_turn && !flag_refused_ &&
                  (!outbox.lines() || outbox.lines()->heeds_flag(now) || call_.insists_on_order);
    if (call_.seats > 0) {
      search_ = new SeatSearch{
          *this,
          {line_key(), call_.seats, call_.claim.key_ttl(), call_.claim.node_timeout, next_random(call_.seed)},
          nodes_};
      attempt_.operation = Ref<Operation>{search_};
    } else if (is_only_attempt()) {
      renew(call_.claim, now);
      attempt_ = make_attempt(std::move(call_.claim));
    } else {
      attempt_ = make_attempt(next_claim(now));
    }
    attempt_.operation->parent = this;
    outbox.submit(attempt_.operation);
  }
  [[nodiscard]] bool is_only_attempt() const noexcept {
    return !call_.waits() && !call_.node_wait && call_.seats == 0;
  }
  [[nodiscard]] Claim next_claim(Time now) {
    Claim claim = call_.claim;
    renew(claim, now);
    return claim;
  }
  void renew(Claim& claim, Time now) {
    plan_.renew(claim, now);
    claim.heeds_flag = claim.heeds_flag && heeds_flag_;
  }
  Attempt attempt_at(std::size_t seat, Time now) override {
    Claim claim = next_claim(now);
    claim.line_key = line_key();
    claim.key = seat_key(claim.line_key, seat);
    if (claim.fence) claim.fence->counter_key = counter_key(claim.key);
    return make_attempt(std::move(claim));
  }

  void failed(Acquisition& attempt, Time now, Outbox& outbox) {
    const Errc why = *attempt.failure();
    if (lacks_right_to_flag(attempt.claim(), why, attempt.tally()) && !call_.insists_on_order &&
        outbox.lines())
      return attempt_without_flag(attempt, now, outbox);
    const std::optional<Time> again = plan_.next(why, attempt.tally(), attempt.begun(), now);
    const std::string* const holder = attempt.tally().owner_of_majority();
    const bool is_split = stands_in_line(now, outbox) && split_vote_.note(attempt.tally());
    if (is_in_turn_ && holder && call_.seats == 0)
      stay_.denied_by(call_.claim.key, *holder, now, outbox.observer());
    if (why != Errc::timed_out || !failure_) failure_ = Failure{why, attempt.take_tally()};
    if (!again) return end(now, outbox);
    const Time last_call = plan_.retry().last_call(attempt.begun(), now);
    if (why == Errc::held && now < last_call && stands_in_line(now, outbox)) {
      if (!is_standing_) return stand(last_call, now, outbox);
      set_deadline(last_call);
      const auto how = is_split ? LineHead::Attempt::split : LineHead::Attempt::denied;
      return outbox.lines()->attempt_failed(*this, how, now);
    }
    leave_line(now, outbox);
    set_deadline(*again);
  }
  void attempt_without_flag(const Acquisition& refused, Time now, Outbox& outbox) {
    flag_refused_ = refused.tally();
    if (call_.seats == 0) call_.claim = refused.claim();
    attempt(now, outbox);
  }

  void note_flag(const Acquisition& ended, Time now, Outbox& outbox) {
    const std::optional<Tally> refused = std::exchange(flag_refused_, std::nullopt);
    if (!refused || !shows_rights(ended.failure())) return;
    outbox.lines()->ignore_flag(*refused, now);
    const Claim& claim = is_only_attempt() ? ended.claim() : call_.claim;
    stay_.refused(claim.key, now, outbox.observer());
  }

  void end(Time now, Outbox& outbox) {
    leave_line(now, outbox);
    finish();
    if (!failure_->tally) return;
    Errc& code = failure_->code;
    const Tally& tally = *failure_->tally;
    // As long as a lock may be on its way to several adopters, or back to its owner, it is not lost.
    if (code == Errc::held && is_adoption_)
      code = tally.majority_has_one_owner() ? Errc::lost : Errc::no_quorum;
    code = plan_.outcome(code, tally);
  }

  std::size_t nodes_;
  bool is_adoption_;
  Call call_;  // its claim is moved to the attempt of a call that has only one
  AttemptPlan plan_;
  SplitVote split_vote_;
  Attempt attempt_;                    // in a pause there is none
  SeatSearch* search_ = nullptr;       // the attempt, if it is one at any seat
  bool heeds_flag_ = true;             // the attempt does, if the claim does
  std::optional<Tally> flag_refused_;  // by the attempt before this one, it seems
  Time polls_until_ = Time::min();     // because it was refused in line
  bool is_standing_ = false;           // in line
  bool is_in_turn_ = false;
  StayInLine stay_;
  std::optional<Failure> failure_;
};

}  // namespace redlock::inline v1::core
