// Takes a lock from its holder.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/operation/poll.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "redlock/core/wire/shown.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// Releases a lock in the name of each of these owners, on all nodes: the same compare-and-delete as the owner's own release, so
/// nobody else loses the lock. First reads whether readers have the lock, because their copies are elsewhere, and users of other
/// locks need no right to those keys. Names the scripts by their sources, because they are rarely used so. In the tally, no means
/// that an owner's copy was deleted there, and yes that there was none.
class Breaking final : public Poll {
 public:
  /// Precondition: there is an owner.
  Breaking(std::string key, std::vector<std::string> owners, std::size_t nodes, Span node_timeout)
      : Poll{nodes, node_timeout}, key_{std::move(key)}, owners_{std::move(owners)}, due_(nodes) {}

  void start(Time now, Outbox& outbox) override {
    begin(now);
    const std::string question = read_owner_command(key_);
    for (NodeIndex node = 0; node < tally_.nodes(); ++node) ask(node, looked, question, outbox);
    decide(outbox);
  }
  void answered(NodeIndex node, Step step, const Reply& reply, Time, Outbox& outbox) override {
    if (!awaits(node)) return;
    if (step == looked)
      delete_copies(node, reply, outbox);
    else
      note(node, reply);  // a node answers in the order of the owners
    decide(outbox);
  }

  [[nodiscard]] std::string_view written_key() const noexcept override { return key_; }

 private:
  enum : Step { looked, deleted };

  void delete_copies(NodeIndex node, const Reply& reply, Outbox& outbox) {
    if (!reply.is(Reply::Kind::string))
      return tally_.mark(node, Tally::Mark::unknown, trouble_of(reply, "a valid answer to GETRANGE"));
    const bool is_shared = reply.text == held_by_readers;
    const std::string readers = is_shared ? readers_key(key_) : std::string{};
    const Script& script = is_shared ? shared_release_script : release_script;
    due_[node] = owners_.size();
    for (const std::string& owner : owners_)
      if (!ask(node, deleted, script.call({key_, readers}, {owner}, Form::source), outbox)) return;
  }
  void note(NodeIndex node, const Reply& reply) {
    if (!reply.is(Reply::Kind::integer))
      return tally_.mark(node, Tally::Mark::unknown, trouble_of(reply, "a number"));
    const std::string& owner = owners_[owners_.size() - due_[node]];
    if (reply.integer == 1 && !tally_[node].owner) tally_[node].owner = owner;
    if (--due_[node] == 0) tally_.mark(node, tally_[node].owner ? Tally::Mark::no : Tally::Mark::yes);
  }

  const std::string key_;
  const std::vector<std::string> owners_;
  std::vector<std::size_t> due_;  // answers about owners, of each node
};

}  // namespace redlock::inline v1::core
