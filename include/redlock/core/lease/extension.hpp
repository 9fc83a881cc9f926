// The extension of a lease.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "redlock/core/lease/held_leases.hpp"
#include "redlock/core/lease/lease_state.hpp"
#include "redlock/core/lease/renewals.hpp"
#include "redlock/core/lease/watched_lease.hpp"
#include "redlock/core/lock/claim.hpp"
#include "redlock/core/operation/scripted_operation.hpp"
#include "redlock/core/operation/tally.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::core {

/// Compare-and-PEXPIRE on all nodes. A majority of actual extensions before the old deadline moves the deadline. If so
/// many nodes have lost our value that no majority can hold it, or the old deadline passes first, the lease is lost.
/// Otherwise the outcome is in doubt: the old deadline stays, and the holder may try again. The lease's state changes
/// before anything is reported.
///
/// An extension that ends after the deadline releases the remaining copies on all nodes, unless the lock has a delay. Before
/// the deadline nobody but the holder releases them, who may not have heard of the loss yet: together with the nodes that do
/// not vote because they have lost their data, these copies keep others from the lock.
///
/// Once there is a majority, nodes without a value get ours back; `Copies` knows when such a copy counts again. Without a
/// majority nothing is put back, because the lock may belong to another client by then.
class Extension final : public ScriptedOperation {
 public:
  enum class Outcome : std::uint8_t { extended, in_doubt, lost };

  /// `due`: when the renewal was due; `never` for an explicit call.
  Extension(std::shared_ptr<LeaseState> lease, std::size_t nodes, Time due = never)
      : lease_{std::move(lease)}, tally_{nodes}, extend_{claim().extend_command()}, due_{due} {}

  void start(Time now, Outbox& outbox) override {
    begun_ = now;
    if (!lease_->in_force(now)) return lose(Loss::deadline_passed, now, outbox);
    round_ = lease_->copies.begin_round();
    old_deadline_ = lease_->deadline();
    set_deadline(std::min(later(now, claim().node_timeout), old_deadline_));
    for (NodeIndex node = 0; node < tally_.nodes(); ++node) ask(node, now, outbox);
    decide(now, outbox);
  }

  void disconnected(NodeIndex node, const Trouble& trouble, Time now, Outbox& outbox) override {
    if (done()) return;
    // A lost connection may mean that the node has restarted without the key, so its extension no longer counts.
    if (tally_.is(node, Tally::Mark::pending) || tally_.is(node, Tally::Mark::yes))
      tally_.mark(node, Tally::Mark::unknown, trouble);
    decide(now, outbox);
  }

  void timed_out(Time now, Outbox& outbox) override {
    if (done()) return;
    tally_.close(no_answer_within(deadline() - begun_));
    decide(now, outbox);
  }

  void abandon(Errc, Time now, Outbox& outbox) override { timed_out(now, outbox); }

  void tell(Observer& observer, Time ended) const override {
    if (lease_->state(ended) == State::released) return;  // it was released meanwhile
    constexpr State states[] = {State::held, State::in_doubt, State::lost};
    observer.extended({.resource = claim().key,
                       .kind = claim().observed_as,
                       .state = states[static_cast<std::size_t>(outcome_)],
                       .took = ended - begun_,
                       .late = due_ == never ? std::nullopt : std::optional{begun_ - due_}});
  }

  /// Does not wait for connections, because the old deadline comes closer meanwhile.
  [[nodiscard]] std::size_t connections_wanted(std::size_t) const override { return 0; }
  [[nodiscard]] std::string_view written_key() const noexcept override { return claim().key; }
  /// Once done.
  [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }
  [[nodiscard]] const LeaseState& lease() const noexcept { return *lease_; }
  [[nodiscard]] Time begun() const noexcept { return begun_; }

 private:
  enum : Step { extended, released, put_back };

  void on_reply(NodeIndex node, Step step, const Reply& reply, Time now, Outbox& outbox) override {
    if (step == extended) count(node, reply, now, outbox);
    if (step == put_back && says_done(reply)) lease_->copies.returned(node);
  }
  [[nodiscard]] std::optional<Command> command_by_source(Step step, NodeIndex, Time now,
                                                         const Outbox&) const override {
    if (step == released) return Command{claim().release_command(now, Form::source), options_of(step, now)};
    if (step == extended && !done())
      return Command{claim().extend_command(Form::source), options_of(step, now)};
    if (step == put_back && claim().fence && may_put_back(now))
      return Command{claim().put_back_command(Form::source), options_of(step, now)};
    return std::nullopt;
  }
  void was_sent_again(NodeIndex node, Step step, Outbox& outbox) override {
    if (step != released) WatchedLease::written(*lease_, node, outbox);
  }
  [[nodiscard]] SendOptions options_of(Step step, Time now) const noexcept {
    if (step == released) return {.step = step, .send_by = later(now, claim().key_ttl()), .is_release = true};
    if (step == put_back) return {.step = step, .send_by = later(now, claim().node_timeout)};
    // Always read: a node that lost its copy gets it back even if it answers late.
    return {.step = step, .send_by = deadline(), .always_read = true};
  }

  void ask(NodeIndex node, Time now, Outbox& outbox) {
    if (const Trouble* refused = outbox.send(node, extend_, *this, options_of(extended, now)))
      tally_.mark(node, Tally::Mark::unknown, *refused);
    else
      WatchedLease::written(*lease_, node, outbox);
  }

  void count(NodeIndex node, const Reply& reply, Time now, Outbox& outbox) {
    Vote vote = vote_on_owner(reply);
    if (vote.kind == Vote::Kind::no) somebody_elses_ |= !says_none(reply);
    if (vote.kind == Vote::Kind::no) lease_->copies.missing(node);
    if (vote.kind == Vote::Kind::yes && !lease_->copies.counts(node)) {
      lease_->copies.there(node);
      vote = {Vote::Kind::unknown, {NodeStatus::put_back, "the key was put back and does not count yet"}};
    }
    if (done() && vote.kind == Vote::Kind::no) return restore(node, now, outbox);
    if (done() || !tally_.is(node, Tally::Mark::pending)) return;
    tally_.mark(node, std::move(vote));
    decide(now, outbox);
  }

  void decide(Time now, Outbox& outbox) {
    if (!lease_->in_force(now)) return lose(Loss::deadline_passed, now, outbox);
    if (tally_.prevents_majority(Tally::Mark::no))
      return lose(somebody_elses_ ? Loss::taken : Loss::deleted, now, outbox);
    if (tally_.majority(Tally::Mark::yes)) return succeed(now, outbox);
    const bool loss_possible =
        tally_.count(Tally::Mark::no) + tally_.count(Tally::Mark::pending) > tolerated(tally_.nodes());
    if (tally_.majority_possible(Tally::Mark::yes) || loss_possible) return;
    // There is no doubt if another extension has succeeded meanwhile.
    if (lease_->deadline() == old_deadline_) lease_->doubt(now);
    end(now);
  }

  void succeed(Time now, Outbox& outbox) {
    if (!lease_->prolong(valid_until(begun_, claim().ttl, claim().drift), now))
      return lose(Loss::deadline_passed, now, outbox);
    outcome_ = Outcome::extended;
    HeldLeases::prolonged(*lease_);
    lease_->copies.end_round_with_majority(round_);
    end(now);
    for (NodeIndex node = 0; node < tally_.nodes(); ++node)
      if (tally_.is(node, Tally::Mark::no)) restore(node, now, outbox);
  }

  /// Only where a majority was extended without this node, and no release is on its way there.
  [[nodiscard]] bool may_put_back(Time now) const noexcept {
    return outcome_ == Outcome::extended && !lease_->copies.given_up() && lease_->in_force(now);
  }
  void restore(NodeIndex node, Time now, Outbox& outbox) {
    if (!may_put_back(now)) return;
    outbox.send(node, claim().put_back_command(), *this, options_of(put_back, now));
    WatchedLease::written(*lease_, node, outbox);
  }
  [[nodiscard]] static bool says_none(const Reply& reply) noexcept {
    return reply.is(Reply::Kind::integer) && reply.integer == 0;
  }
  [[nodiscard]] static bool says_done(const Reply& reply) noexcept {
    return reply.is(Reply::Kind::status) || (reply.is(Reply::Kind::integer) && reply.integer == 1);
  }

  /// Marks the lease as lost unless it is over already. After its deadline, releases the remaining copies, once per lease.
  void lose(Loss reason, Time now, Outbox& outbox) {
    outcome_ = Outcome::lost;
    lease_->lose(reason, now);
    WatchedLease::stop(*lease_);
    end(now);
    if (now < lease_->deadline() || lease_->copies.given_up()) return;
    lease_->copies.give_up();
    if (claim().is_kept_when_lost()) return;
    const std::string release = claim().release_command(now);
    for (NodeIndex node = 0; node < tally_.nodes(); ++node)
      outbox.send(node, release, *this, options_of(released, now));
  }

  void end(Time now) {
    finish();
    Renewals::extended(lease_, now);
  }

  [[nodiscard]] const Claim& claim() const noexcept { return lease_->claim; }

  std::shared_ptr<LeaseState> lease_;
  Tally tally_;
  std::string extend_;
  Copies::Round round_ = 0;
  Time old_deadline_{};
  bool somebody_elses_ = false;  // another client's value was found on a node
  const Time due_;
  Time begun_{};
  Outcome outcome_ = Outcome::in_doubt;
};

}  // namespace redlock::inline v1::core
