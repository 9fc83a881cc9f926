// The extension of a lease.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "redlock/core/claim.hpp"
#include "redlock/core/operation.hpp"
#include "redlock/core/tally.hpp"

namespace redlock::inline v1::core {

/// Compare-and-PEXPIRE on all nodes. A majority of *real* extensions within the old validity moves the
/// deadline. A node that no longer has our value never gets it back here. When so many have lost it that no
/// majority can hold it, or the old deadline passes first, the lease is lost, and what is left of it is
/// released everywhere. Otherwise the outcome is in doubt: the old deadline stands, and the holder may try
/// again.
class Extension final : public Operation {
 public:
  enum class Outcome : std::uint8_t { extended, in_doubt, lost };

  Extension(Claim claim, std::size_t nodes, Time valid_until)
      : claim_{std::move(claim)},
        tally_{nodes},
        valid_until_{valid_until},
        extend_{claim_.extend_command()} {}

  void start(Time now, Outbox& outbox) override {
    begun_ = now;
    if (now >= valid_until_) return lose(now, outbox);
    set_deadline(std::min(later(now, claim_.node_timeout), valid_until_));
    for (NodeIndex node = 0; node < tally_.nodes(); ++node) ask(node, extended, extend_, outbox);
    decide(now, outbox);
  }

  void answered(NodeIndex node, Step step, const Reply& reply, Time now, Outbox& outbox) override {
    if (is_noscript(reply) && ask_again(node, step, now, outbox)) return;
    if (step == released || step == released_again || done() || !tally_.is(node, Tally::Mark::pending))
      return;
    Vote vote = vote_of_script(reply);
    // A key of another type is not ours, so ours is gone.
    if (vote.trouble.status == NodeStatus::wrong_type) vote = {Vote::Kind::no, {}};
    tally_.mark(node, std::move(vote));
    decide(now, outbox);
  }

  void disconnected(NodeIndex node, const Trouble& trouble, Time now, Outbox& outbox) override {
    if (done()) return;
    // An extension counts only as long as nothing suggests that the node may have restarted without it.
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

  /// Waits for no connection: the old deadline does not wait either.
  [[nodiscard]] std::size_t connections_wanted(std::size_t) const override { return 0; }
  /// Once done.
  [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }
  /// The deadline after it: a new one only if extended.
  [[nodiscard]] Time valid_until() const noexcept { return valid_until_; }
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }

 private:
  enum : Step { extended, extended_again, released, released_again };

  void ask(NodeIndex node, Step step, const std::string& command, Outbox& outbox) {
    if (const Trouble* refused = outbox.send(node, command, *this, {.step = step, .send_by = deadline()}))
      tally_.mark(node, Tally::Mark::unknown, *refused);
  }

  /// After NOSCRIPT, once.
  bool ask_again(NodeIndex node, Step step, Time now, Outbox& outbox) {
    if (step == released)
      outbox.send(node, claim_.release_with_source(), *this, {.step = released_again, .owed = true});
    if (step == extended && !done()) {
      ask(node, extended_again, claim_.extend_with_source(), outbox);
      decide(now, outbox);
    }
    return step == released || step == extended;
  }

  void decide(Time now, Outbox& outbox) {
    if (now >= valid_until_ || tally_.prevents_majority(Tally::Mark::no)) return lose(now, outbox);
    if (tally_.majority(Tally::Mark::yes)) {
      valid_until_ = std::max(valid_until_, core::valid_until(begun_, claim_.ttl, claim_.drift));
      outcome_ = Outcome::extended;
      return finish();
    }
    const bool loss_possible =
        tally_.count(Tally::Mark::no) + tally_.count(Tally::Mark::pending) > tolerated(tally_.nodes());
    if (!tally_.majority_possible(Tally::Mark::yes) && !loss_possible) finish();
  }

  void lose(Time now, Outbox& outbox) {
    outcome_ = Outcome::lost;
    const std::string release = claim_.release_command();
    for (NodeIndex node = 0; node < tally_.nodes(); ++node)
      outbox.send(node, release, *this, {.step = released, .send_by = later(now, claim_.ttl), .owed = true});
    finish();
  }

  Claim claim_;
  Tally tally_;
  Time valid_until_;
  std::string extend_;
  Time begun_{};
  Outcome outcome_ = Outcome::in_doubt;
};

}  // namespace redlock::inline v1::core
