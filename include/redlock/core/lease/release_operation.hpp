// The release of a lock.
#pragma once

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
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

/// Stops renewing and watching the lease; the lock stays on the nodes. Returns true if the lease was in force.
inline bool let_go(const std::shared_ptr<LeaseState>& lease, Time now) noexcept {
  Renewals::stop(lease);
  WatchedLease::stop(*lease);
  HeldLeases::let_go(*lease);
  lease->copies.give_up();
  return lease->release(now);
}

/// Compare-and-delete on all nodes, unless the lease was lost and its lock has a delay. A lock that is to be kept for a while
/// stays there without an owner instead of being deleted. Done when a majority has deleted or kept the key, when no majority
/// can have had our value, or when so many nodes do not answer that neither can be known.
class ReleaseOperation final : public ScriptedOperation {
 public:
  ReleaseOperation(std::shared_ptr<LeaseState> lease, std::size_t nodes)
      : lease_{std::move(lease)}, tally_{nodes} {}

  void start(Time now, Outbox& outbox) override {
    begun_ = now;
    // If the lease was over already, another client may have held the lock, whatever is deleted now.
    was_over_ = !let_go(lease_, now);
    if (was_over_ && stays(now)) return finish();
    set_deadline(later(now, claim().node_timeout));
    const std::string release = release_command(now, Form::digest);
    for (NodeIndex node = 0; node < tally_.nodes(); ++node)
      if (const Trouble* refused = outbox.send(node, release, *this, options(now)))
        tally_.mark(node, Tally::Mark::unknown, *refused);
    if (!was_over_ && !is_kept(now) && !claim().is_shared()) outbox.released(claim().key, claim().is_seat());
    decide();
  }

  void disconnected(NodeIndex node, const Trouble& trouble, Time, Outbox&) override {
    if (done() || !tally_.is(node, Tally::Mark::pending)) return;
    tally_.mark(node, Tally::Mark::unknown, trouble);
    decide();
  }

  void timed_out(Time, Outbox&) override {
    if (done()) return;
    tally_.close(no_answer_within(claim().node_timeout));
    decide();
  }

  /// Ends the wait only: the releases stay queued, so the lock is freed nevertheless.
  void abandon(Errc, Time now, Outbox& outbox) override { timed_out(now, outbox); }

  [[nodiscard]] std::string_view written_key() const noexcept override { return claim().key; }
  /// Does not wait for connections: releases stay queued until there is one.
  [[nodiscard]] std::size_t connections_wanted(std::size_t) const override { return 0; }
  /// Valid once done.
  [[nodiscard]] Release outcome() const noexcept { return was_over_ ? Release::already_lost : outcome_; }
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }
  [[nodiscard]] Time begun() const noexcept { return begun_; }

 private:
  enum : Step { released };

  void on_reply(NodeIndex node, Step, const Reply& reply, Time, Outbox&) override {
    if (done() || !tally_.is(node, Tally::Mark::pending)) return;
    tally_.mark(node, vote_on_owner(reply));
    decide();
  }
  [[nodiscard]] std::optional<Command> command_by_source(Step, NodeIndex, Time now,
                                                         const Outbox&) const override {
    return Command{release_command(now, Form::source), options(now)};
  }
  [[nodiscard]] SendOptions options(Time now) const noexcept {
    return {.step = released, .send_by = later(now, claim().key_ttl()), .is_release = true};
  }

  [[nodiscard]] bool is_kept(Time now) const noexcept { return lease_->was_used && claim().is_kept(now); }
  [[nodiscard]] std::string release_command(Time now, Form form) const {
    return lease_->was_used ? claim().release_command(now, form) : claim().release_command(form);
  }

  /// The copies stay, because others are to wait for the delay after the loss. Whoever shuts its client down knows that.
  [[nodiscard]] bool stays(Time now) const noexcept {
    const bool ends_in_time = lease_->loss(now) == Loss::shut_down && now < lease_->deadline();
    return claim().is_kept_when_lost() && lease_->was_used && !ends_in_time;
  }
  void decide() noexcept {
    if (tally_.majority(Tally::Mark::yes))
      outcome_ = Release::released;
    else if (tally_.prevents_majority(Tally::Mark::no))
      outcome_ = Release::already_lost;
    else if (tally_.majority_possible(Tally::Mark::yes) || can_still_prove_loss())
      return;
    finish();
  }

  [[nodiscard]] bool can_still_prove_loss() const noexcept {
    return tally_.count(Tally::Mark::no) + tally_.count(Tally::Mark::pending) > tolerated(tally_.nodes());
  }

  [[nodiscard]] const Claim& claim() const noexcept { return lease_->claim; }

  std::shared_ptr<LeaseState> lease_;
  Tally tally_;
  Time begun_{};
  bool was_over_ = false;
  Release outcome_ = Release::unknown;
};

}  // namespace redlock::inline v1::core
