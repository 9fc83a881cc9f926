// One attempt at a lock.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/lock/claim.hpp"
#include "redlock/core/lock/reported_holder.hpp"
#include "redlock/core/lock/token_agreement.hpp"
#include "redlock/core/operation/scripted_operation.hpp"
#include "redlock/core/operation/tally.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::core {

/// The Redlock algorithm's acquisition
/// (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/), with all nodes asked at once:
///
///     voting ── a majority granted, validity left ───────────────▶ done: granted
///        └───── no majority, or too late ──────────▶ giving back ─▶ done: held, no_quorum, …
///
/// The lock is *granted* with the reply that completes the majority; later grants only add copies. When an attempt
/// fails, it queues the release on **every** node at once: after the SET on the same connection, so that a SET that runs
/// late is undone. *Giving back* then lasts until the reason is certain: while a majority may still turn out to vote or
/// not to vote, and until the nodes that denied have answered the release, because SET does not say which type of key was
/// in its way, but the release's GETRANGE does. *No quorum* waits for every node that may still answer, because operators
/// need to know which nodes are well.
///
/// With a fence, the majority consists of nodes that have acknowledged the token: see `TokenAgreement`. That may take a
/// second round to nodes whose counters are behind, and another one if a node's counter is so far ahead that the others
/// refuse to confirm it.
///
/// An adoption acquires a lock that has a certain owner, instead of a free one. It swaps the owner value, and swaps it
/// back if the attempt fails. The client that swaps a majority has the lock, so at most one of two adopters succeeds. The
/// token is new, which fences off a previous holder that is still active.
class Acquisition final : public ScriptedOperation {
 public:
  /// A waiting caller also needs the PTTL of the holder's copies.
  enum class Purpose : bool { try_once, wait };

  Acquisition(Claim&& claim, std::size_t nodes, Purpose purpose)
      : claim_{std::move(claim)}, purpose_{purpose}, tally_{nodes}, agreement_{claim_.fence ? nodes : 0} {}

  void start(Time now, Outbox& outbox) override {
    begun_ = now;
    set_deadline(std::min(later(now, claim_.node_timeout), valid_until()));
    claim_.marker_keys = outbox.marker_keys();
    const Command set{claim_.set_command(), options_of(asked, now)};
    for (NodeIndex node = 0; node < tally_.nodes(); ++node) send(node, set, outbox);
    decide(now, outbox);
  }

  void disconnected(NodeIndex node, const Trouble& trouble, Time now, Outbox& outbox) override {
    if (done()) return;
    if (giving_back_) explained_[node] = true;
    // A lost connection may mean that the node has restarted without the key, so its grant no longer counts.
    if (tally_.is(node, Tally::Mark::pending) || tally_.is(node, Tally::Mark::yes) ||
        agreement_.refuses(node))
      tally_.mark(node, Tally::Mark::unknown, trouble);
    agreement_.lose(node);
    decide(now, outbox);
  }

  void timed_out(Time now, Outbox& outbox) override {
    if (done()) return;
    tally_.close(no_answer_within(deadline() - begun_));
    if (!giving_back_) decide(now, outbox);
    explained_.assign(tally_.nodes(), true);  // stop waiting for replies
    if (!done()) decide(now, outbox);
  }

  void abandon(Errc why, Time now, Outbox& outbox) override {
    if (done()) return;
    if (deadline() != never) give_back(now, outbox);  // it has begun
    conclude(why);
  }

  void tell(Observer& observer, Time ended) const override {
    if (deadline() == never) return;  // it has not begun
    Observer::Attempt event{claim_.key, claim_.observed_as, failure_, ended - begun_, second_round_};
    if (failure_ == Errc::held) event.holder = holder_in(tally_);
    observer.attempted(event);
  }

  /// Gives back a lock that was granted, because it is of no use without others.
  void take_back(Time now, Outbox& outbox) {
    fail(Errc::held, now, outbox);
    outbox.taken_back();
    if (!claim_.is_shared()) outbox.released(claim_.key, claim_.is_seat());
  }
  [[nodiscard]] std::chrono::milliseconds wanted_ttl() const noexcept override { return claim_.key_ttl(); }
  [[nodiscard]] std::string_view written_key() const noexcept override { return claim_.key; }
  [[nodiscard]] bool granted() const noexcept { return done() && !failure_; }
  /// Why it failed; none if it was granted. Valid once done.
  [[nodiscard]] std::optional<Errc> failure() const noexcept { return failure_; }
  /// Returns true if a node was asked to confirm the token.
  [[nodiscard]] bool had_second_round() const noexcept { return second_round_; }
  [[nodiscard]] Time begun() const noexcept { return begun_; }
  [[nodiscard]] const Claim& claim() const noexcept { return claim_; }
  [[nodiscard]] Time valid_until() const noexcept {
    return core::valid_until(begun_, claim_.ttl, claim_.drift);
  }
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }
  /// Call it at most once, when the operation is done. That goes for `take_claim` as well.
  [[nodiscard]] Tally take_tally() noexcept { return std::move(tally_); }
  /// Precondition: the lock was granted. No release of this attempt is sent then.
  [[nodiscard]] Claim take_claim() {
    claim_.acquired(agreement_.token(), begun_);
    std::string{}.swap(claim_.adopted_owner);  // also frees the memory, because a lease does not need it
    return std::move(claim_);
  }

 private:
  enum : Step { asked, timed, released, confirmed };

  void on_reply(NodeIndex node, Step step, const Reply& reply, Time now, Outbox& outbox) override {
    if (done()) return;
    const bool is_open = tally_.is(node, Tally::Mark::pending);
    if (step == asked && is_open) count(node, reply, now, outbox);
    if (step == confirmed && is_open) note_confirmation(node, reply);
    if (step == timed && reply.is(Reply::Kind::integer) && reply.integer >= 0)
      tally_[node].ttl = span_of(std::chrono::milliseconds{reply.integer});
    if (step == released) explain(node, reply);
    decide(now, outbox);
  }

  /// Nothing sets the key after a release of the same owner value was queued.
  [[nodiscard]] std::optional<Command> command_by_source(Step step, NodeIndex node, Time now,
                                                         const Outbox&) const override {
    if (step == released) return Command{undo_command(Form::source), options_of(step, now)};
    if (!claim_.sets_by_script() || giving_back_ || done()) return std::nullopt;
    if (step == asked) return Command{claim_.set_command(Form::source), options_of(step, now)};
    if (step == confirmed && tally_.is(node, Tally::Mark::pending))
      return Command{confirmation(node, Form::source), options_of(step, now)};
    return std::nullopt;
  }
  [[nodiscard]] SendOptions options_of(Step step, Time now) const noexcept {
    if (step == released) return {.step = step, .send_by = later(now, claim_.key_ttl()), .is_release = true};
    return {.step = step,
            .send_by = deadline(),
            .grants = step != timed,
            .lacks_marker = step == asked && claim_.marker_keys};
  }

  void send(NodeIndex node, const Command& command, Outbox& outbox) {
    if (const Trouble* refused = outbox.send(node, command.bytes, *this, command.options))
      tally_.mark(node, Tally::Mark::unknown, *refused);
  }

  void count(NodeIndex node, const Reply& reply, Time now, Outbox& outbox) {
    if (!claim_.tells_holder()) return tally_.mark(node, vote_of_set(reply));
    Grant grant = read_grant(reply);
    tally_[node].owner = std::move(grant.owner);
    tally_[node].ttl = grant.ttl;
    const bool is_granted = grant.vote.kind == Vote::Kind::yes;
    tally_.mark(node, std::move(grant.vote));
    if (!is_granted || !claim_.fence) return;
    const TokenAgreement::Grant worth = agreement_.add(node, grant.counter);
    if (worth == TokenAgreement::Grant::to_be_confirmed && !giving_back_) confirm(node, now, outbox);
    if (worth == TokenAgreement::Grant::in_vain) pass_over(node);
  }

  /// Asks the node to acknowledge the token; its grant does not count until then.
  void confirm(NodeIndex node, Time now, Outbox& outbox) {
    second_round_ = true;
    tally_.mark(node, Tally::Mark::pending);
    send(node, {confirmation(node, Form::digest), options_of(confirmed, now)}, outbox);
  }
  [[nodiscard]] std::string confirmation(NodeIndex node, Form form) const {
    return claim_.confirm_command(agreement_.granted(node), agreement_.token(), form);
  }
  void note_confirmation(NodeIndex node, const Reply& reply) {
    if (refuses_token(reply)) {
      agreement_.refuse(node);
      return tally_.mark(node, Tally::Mark::unknown,
                         {NodeStatus::bad_counter, "the fencing token " + std::to_string(agreement_.token()) +
                                                       " is too far ahead of this node's clock"});
    }
    Vote vote = vote_of_script(reply);
    if (vote.kind == Vote::Kind::no) return pass_over(node);
    tally_.mark(node, std::move(vote));
  }
  void pass_over(NodeIndex node) {
    tally_.mark(node, Tally::Mark::no,
                {NodeStatus::held, "the fencing counter changed while the nodes agreed on the token"});
  }

  /// Settles the token. Precondition: a majority has granted.
  void settle_token(Time now, Outbox& outbox) {
    set_deadline(std::min(later(now, claim_.node_timeout), valid_until()));
    for (const NodeIndex node : agreement_.settle(tally_)) confirm(node, now, outbox);
  }

  /// Precondition: no majority can acknowledge the token. If enough nodes are left without it because they refused it,
  /// leaves out the others and gives up the token. Returns false if those that were asked cannot make them enough either.
  bool leave_out_token() {
    std::size_t left = agreement_.refusals();
    const std::size_t most_left = left + tally_.count(Tally::Mark::pending);
    for (NodeIndex node = 0; node < tally_.nodes(); ++node) left += awaits_grant(node) ? 1 : 0;
    if (left < quorum(tally_.nodes())) return most_left >= quorum(tally_.nodes());
    const Trouble too_far{NodeStatus::bad_counter,
                          "the fencing counter is too far ahead of the other nodes' clocks"};
    for (NodeIndex node = 0; node < tally_.nodes(); ++node) {
      const bool is_asked = tally_.is(node, Tally::Mark::pending) && !awaits_grant(node);
      if (agreement_.refuses(node))
        tally_.mark(node, Tally::Mark::yes);
      else if (tally_.is(node, Tally::Mark::yes) || is_asked)
        tally_.mark(node, Tally::Mark::unknown, too_far);
    }
    agreement_.unsettle();
    return true;
  }
  [[nodiscard]] bool awaits_grant(NodeIndex node) const noexcept {
    return tally_.is(node, Tally::Mark::pending) && agreement_.granted(node) == 0;
  }
  [[nodiscard]] bool is_stuck() const noexcept {
    return agreement_.settled() && !tally_.majority_possible(Tally::Mark::yes);
  }

  void decide(Time now, Outbox& outbox) {
    if (!giving_back_) {
      if (is_stuck() && leave_out_token() && is_stuck()) return;
      if (tally_.is_hopeless()) return fail(Errc::misconfigured, now, outbox);
      if (claim_.fence && !agreement_.settled() && tally_.majority(Tally::Mark::yes))
        settle_token(now, outbox);
      if (tally_.majority(Tally::Mark::yes)) {
        // Check the validity last: the servers' clocks have been running since the first SET.
        if (now < valid_until()) return succeed(outbox);
        return fail(Errc::too_slow, now, outbox);
      }
      if (tally_.majority_possible(Tally::Mark::yes)) return;
      give_back(now, outbox);
    }
    if (tally_.is_hopeless()) return conclude(Errc::misconfigured);
    const bool all_have_spoken = tally_.count(Tally::Mark::pending) == 0;
    if (tally_.prevents_majority(Tally::Mark::unknown) && all_have_spoken) return conclude(Errc::no_quorum);
    if (tally_.votes() >= quorum(tally_.nodes()) && all_explained()) return conclude(Errc::held);
  }
  void succeed(Outbox& outbox) noexcept {
    finish();
    outbox.granted(valid_until());
  }
  void fail(Errc why, Time now, Outbox& outbox) {
    give_back(now, outbox);
    conclude(why);
  }
  void conclude(Errc why) noexcept {
    failure_ = why;
    finish();
  }
  void give_back(Time now, Outbox& outbox) {
    if (std::exchange(giving_back_, true)) return;
    explained_.assign(tally_.nodes(), false);
    is_gone_ = tally_.majority_has_one_owner();
    const Command release{undo_command(Form::digest), options_of(released, now)};
    const std::string ask_ttl = command({"PTTL", claim_.key});
    for (NodeIndex node = 0; node < tally_.nodes(); ++node) {
      if (purpose_ == Purpose::wait && !claim_.tells_holder() && tally_.is(node, Tally::Mark::no))
        outbox.send(node, ask_ttl, *this, options_of(timed, now));
      if (outbox.send(node, release.bytes, *this, release.options)) explained_[node] = true;
    }
  }
  /// If another client has the lock now, the copies are deleted instead of being given back to the old owner, where they
  /// would be in the way.
  [[nodiscard]] std::string undo_command(Form form) const {
    return is_gone_ ? claim_.release_command(form) : claim_.undo_command(form);
  }
  void explain(NodeIndex node, const Reply& reply) {
    explained_[node] = true;
    if (!tally_.is(node, Tally::Mark::no) || !reply.is(Reply::Kind::error)) return;
    Trouble trouble = trouble_of_error(reply.text);
    if (trouble.status == NodeStatus::wrong_type) tally_.mark(node, Tally::Mark::unknown, std::move(trouble));
  }
  /// Returns true if all denials are explained. The denial of a script needs no further explanation.
  [[nodiscard]] bool all_explained() const noexcept {
    if (claim_.tells_holder()) return true;
    for (NodeIndex node = 0; node < tally_.nodes(); ++node)
      if (tally_.is(node, Tally::Mark::no) && !explained_[node]) return false;
    return true;
  }

  Claim claim_;
  Purpose purpose_;
  Tally tally_;
  TokenAgreement agreement_;     // with a fence
  std::vector<bool> explained_;  // while giving back: the release was answered, or will not be
  Time begun_{};
  bool second_round_ = false;
  bool giving_back_ = false;
  bool is_gone_ = false;  // when giving back began, another client had the lock, or no client
  std::optional<Errc> failure_;
};

}  // namespace redlock::inline v1::core
