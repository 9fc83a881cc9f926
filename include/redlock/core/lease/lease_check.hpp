// Asks the nodes whether somebody else's lease is still held.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/operation/poll.hpp"
#include "redlock/core/operation/tally.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "redlock/core/wire/shown.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1::core {

/// Reads the beginning of the lock's key on every node, or what a reader has there. Done as soon as a majority has shown the
/// lease, so that a node that hangs does not delay the holder's requests; otherwise when every node has answered or cannot
/// answer any more. As an `Inspection`, it uses GETRANGE, and does not count a node that may have forgotten the key. That may
/// become known only when the other nodes have answered as well.
///
/// The lease is valid if a majority shows one owner value that begins with the lease's id.
class LeaseCheck final : public Poll {
 public:
  struct Subject {
    std::string key;
    std::string id;
    bool is_shared = false;
  };
  LeaseCheck(Subject subject, std::size_t nodes, Span node_timeout)
      : Poll{nodes, node_timeout}, subject_{std::move(subject)} {}

  void start(Time now, Outbox& outbox) override {
    begin(now);
    const std::string question = this->question();
    for (NodeIndex node = 0; node < tally_.nodes(); ++node) {
      outbox.look_again(node);
      ask(node, Step{}, question, outbox);
    }
    decide(outbox);
  }

  /// Afterwards, *no* means that the node shows an owner, and *yes* that it shows none, as for `holding_in`.
  void answered(NodeIndex node, Step, const Reply& reply, Time, Outbox& outbox) override {
    if (!awaits(node)) return;
    if (reply.is(Reply::Kind::string)) {
      tally_[node].owner = reply.text;
      tally_.mark(node, reply.text.empty() ? Tally::Mark::yes : Tally::Mark::no);
    } else {
      tally_.mark(node, Tally::Mark::unknown, trouble_of(reply, "a valid answer to GETRANGE"));
    }
    decide(outbox);
  }

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
  [[nodiscard]] std::string question() const {
    if (!subject_.is_shared) return read_owner_command(subject_.key);
    return command({"EVAL", reader_source, "1", subject_.key, readers_key(subject_.key), subject_.id});
  }
  [[nodiscard]] bool is_of_others(NodeIndex node) const {
    return tally_.is(node, Tally::Mark::no) && !tally_[node].owner->starts_with(subject_.id);
  }

  void decide(Outbox& outbox) override {
    heed_caveats(outbox);
    if (tally_.count(Tally::Mark::pending) == 0 || state() == SequencerState::valid) finish();
  }

  const Subject subject_;
};

}  // namespace redlock::inline v1::core
