// An operation that asks every node once, and has no lock to win or lose.
#pragma once

#include <cstddef>
#include <string_view>

#include "redlock/core/operation/operation.hpp"
#include "redlock/core/operation/tally.hpp"

namespace redlock::inline v1::core {

/// Asks every node. Done when every node has answered or cannot answer any more, unless the derived class decides earlier.
class Poll : public Operation {
 public:
  void disconnected(NodeIndex node, const Trouble& trouble, Time, Outbox& outbox) override {
    if (!awaits(node)) return;
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
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }

 protected:
  Poll(std::size_t nodes, Span node_timeout) : tally_{nodes}, node_timeout_{node_timeout} {}

  void begin(Time now) { set_deadline(later(now, node_timeout_)); }
  /// Returns false, and notes the reason, if the question cannot be sent.
  bool ask(NodeIndex node, Step step, std::string_view question, Outbox& outbox) {
    const Trouble* const refused = outbox.send(node, question, *this, {.step = step, .send_by = deadline()});
    if (refused) tally_.mark(node, Tally::Mark::unknown, *refused);
    return !refused;
  }
  /// The node has not told all yet.
  [[nodiscard]] bool awaits(NodeIndex node) const noexcept {
    return !done() && tally_.is(node, Tally::Mark::pending);
  }
  /// Nodes that the restart guard does not admit may have forgotten what they were asked. That may become known only when the
  /// other nodes have answered as well, as it takes their markers to tell a new node from one that lost its data.
  void heed_caveats(Outbox& outbox) {
    for (NodeIndex node = 0; node < tally_.nodes(); ++node) {
      if (!tally_.is(node, Tally::Mark::yes) && !tally_.is(node, Tally::Mark::no)) continue;
      if (const Trouble* const caveat = outbox.caveat(node)) tally_.mark(node, Tally::Mark::unknown, *caveat);
    }
  }
  /// A node has told all, or never will.
  virtual void decide(Outbox& /*outbox*/) {
    if (tally_.count(Tally::Mark::pending) == 0) finish();
  }

  Tally tally_;

 private:
  const Span node_timeout_;
};

}  // namespace redlock::inline v1::core
