// Asks the nodes whether somebody else's lease is still held.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/operation/operation.hpp"
#include "redlock/core/operation/tally.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/vote.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

/// Reads the beginning of one key, of a shared lock of two, on every node. Done as soon as a majority has shown the lease, so
/// that a node that hangs does not delay the holder's requests; otherwise when every node has answered or cannot answer any
/// more. As an `Inspection`, it uses GETRANGE, and does not count a node that may have forgotten the key. That may become known
/// only when the other nodes have answered as well.
///
/// The lease is valid if a majority shows one owner value that begins with the lease's id.
class LeaseCheck final : public Operation {
 public:
  struct Subject {
    std::string key;
    std::string id;
    bool is_shared = false;
  };
  LeaseCheck(Subject subject, std::size_t nodes, Span node_timeout)
      : subject_{std::move(subject)}, node_timeout_{node_timeout}, tally_{nodes} {}

  void start(Time now, Outbox& outbox) override {
    set_deadline(later(now, node_timeout_));
    if (subject_.is_shared) ask(copy, reader_key(subject_.key, subject_.id), outbox);
    ask(last, subject_.key, outbox);
    decide(outbox);
  }

  void answered(NodeIndex node, Step step, const Reply& reply, Time, Outbox& outbox) override {
    if (done() || !tally_.is(node, Tally::Mark::pending)) return;
    if (!reply.is(Reply::Kind::string))
      tally_.mark(node, Tally::Mark::unknown, trouble_of(reply, "a valid answer to GETRANGE"));
    else
      read(node, step, reply.text);
    decide(outbox);
  }
  void disconnected(NodeIndex node, const Trouble& trouble, Time, Outbox& outbox) override {
    if (done() || !tally_.is(node, Tally::Mark::pending)) return;
    tally_.mark(node, Tally::Mark::unknown, trouble);
    decide(outbox);
  }
  void timed_out(Time, Outbox& outbox) override {
    if (done()) return;
    tally_.close(no_answer_within(node_timeout_));
    decide(outbox);
  }
  void abandon(Errc, Time now, Outbox& outbox) override { timed_out(now, outbox); }

  [[nodiscard]] std::size_t connections_wanted(std::size_t nodes) const override { return nodes; }
  [[nodiscard]] const Subject& subject() const noexcept { return subject_; }
  /// What the answers so far say.
  [[nodiscard]] SequencerState state() const {
    const std::string* const owner = tally_.owner_of_majority();
    if (owner && owner->starts_with(subject_.id)) return SequencerState::valid;
    std::size_t others = 0;
    for (NodeIndex node = 0; node < tally_.nodes(); ++node)
      others += tally_.is(node, Tally::Mark::yes) || is_of_others(node) ? 1 : 0;
    return others > tolerated(tally_.nodes()) ? SequencerState::stale : SequencerState::unknown;
  }

 private:
  enum : Step { copy, last };
  static constexpr std::string_view longest_owner = "1023";

  void ask(Step step, const std::string& key, Outbox& outbox) {
    const std::string question = command({"GETRANGE", key, "0", longest_owner});
    for (NodeIndex node = 0; node < tally_.nodes(); ++node) {
      if (!tally_.is(node, Tally::Mark::pending)) continue;
      const SendOptions options{.step = step, .send_by = deadline()};
      if (const Trouble* const refused = outbox.send(node, question, *this, options))
        tally_.mark(node, Tally::Mark::unknown, *refused);
    }
  }

  /// Afterwards, *no* means that the node shows an owner, and *yes* that it shows none, as for `holding_in`.
  void read(NodeIndex node, Step step, const std::string& value) {
    if (step == copy || !subject_.is_shared) tally_[node].owner = value;
    if (step == copy) return;
    if (subject_.is_shared && value != held_by_readers) tally_[node].owner.reset();
    tally_.mark(node, tally_[node].owner.value_or("").empty() ? Tally::Mark::yes : Tally::Mark::no);
  }
  [[nodiscard]] bool is_of_others(NodeIndex node) const {
    return tally_.is(node, Tally::Mark::no) && !tally_[node].owner->starts_with(subject_.id);
  }

  void decide(Outbox& outbox) {
    for (NodeIndex node = 0; node < tally_.nodes(); ++node) {
      if (!tally_.is(node, Tally::Mark::yes) && !tally_.is(node, Tally::Mark::no)) continue;
      if (const Trouble* const caveat = outbox.caveat(node)) tally_.mark(node, Tally::Mark::unknown, *caveat);
    }
    if (tally_.count(Tally::Mark::pending) == 0 || state() == SequencerState::valid) finish();
  }

  const Subject subject_;
  const Span node_timeout_;
  Tally tally_;
};

}  // namespace redlock::inline v1::core
