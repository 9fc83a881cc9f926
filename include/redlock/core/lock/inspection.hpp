// Reads from all nodes who holds a lock, and who waits for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/line/line_view.hpp"
#include "redlock/core/operation/holding.hpp"
#include "redlock/core/operation/poll.hpp"
#include "redlock/core/operation/tally.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "redlock/core/wire/shown.hpp"

namespace redlock::inline v1::core {

/// Reads the beginning of the key's value, its PTTL, the readers, the fencing counter and the line on every node. Uses
/// GETRANGE, because GET could transfer a huge value of a data key with the same name, over a connection that other operations
/// share. A node that refuses to show the line or the readers shows the rest. In the tally, yes means free, and no means held.
class Inspection final : public Poll {
 public:
  Inspection(std::string key, std::size_t nodes, Span node_timeout)
      : Poll{nodes, node_timeout}, key_{std::move(key)}, seen_(nodes) {}

  void start(Time now, Outbox& outbox) override {
    begin(now);
    const LineKeys line{key_};
    // Those that decide whether the node has told come last.
    const Question questions[] = {
        {time, command({"TIME"})},
        {order, read_order_command(line)},
        {alive, read_alive_command(line)},
        {readers_of, command({"EVAL", readers_source, "1", key_, readers_key(key_)})},
        {counter, read_counter_command(key_)},
        {owner, read_owner_command(key_)},
        {counter_again, read_counter_command(key_)},
        {life, command({"PTTL", key_})}};
    for (NodeIndex node = 0; node < tally_.nodes(); ++node) ask_all(node, questions, outbox);
    decide(outbox);
  }

  void answered(NodeIndex node, Step step, const Reply& reply, Time, Outbox& outbox) override {
    if (!awaits(node)) return;
    if (step == counter) {
      tally_[node].counter = shown_counter(reply);
      return;
    }
    if (step == counter_again) {
      seen_[node].counter_again = shown_counter(reply);
      return;
    }
    if (step == time || step == order || step == alive) return note_line(node, step, reply);
    if (step == readers_of) return note_readers(node, reply);
    if (step == owner) {
      if (reply.is(Reply::Kind::string))
        tally_[node].owner = reply.text;
      else
        tally_.mark(node, Tally::Mark::unknown, trouble_of(reply, "a valid answer to GETRANGE"));
    } else if (!reply.is(Reply::Kind::integer)) {
      tally_.mark(node, Tally::Mark::unknown, trouble_of(reply, "a valid answer to PTTL"));
    } else {
      // GETRANGE returns an empty string for a missing key; only PTTL tells whether the key exists.
      const bool there = reply.integer != -2;
      if (there && reply.integer >= 0) tally_[node].ttl = span_of(std::chrono::milliseconds{reply.integer});
      if (!there) tally_[node].owner.reset();
      tally_.mark(node, there ? Tally::Mark::no : Tally::Mark::yes);
    }
    decide(outbox);
  }

  /// Who has the lock, according to a majority. Valid once done. A counter belongs to the owner if it was the same before and
  /// after the owner was read, because each grant raises it.
  [[nodiscard]] std::optional<Holding> holding() const {
    Tally shown = tally_;
    for (NodeIndex node = 0; node < shown.nodes(); ++node)
      if (shown[node].counter != seen_[node].counter_again) shown[node].counter.reset();
    return holding_in(shown);
  }
  /// The owner values of those who share the lock on this node. Valid once done.
  [[nodiscard]] const std::vector<std::string>& readers(NodeIndex node) const { return seen_[node].readers; }
  /// How many readers the node has, also those that it has not named.
  [[nodiscard]] std::size_t reader_count(NodeIndex node) const {
    return std::max(seen_[node].reader_count, seen_[node].readers.size());
  }
  /// Who stands in line on this node, in order. Valid once done.
  [[nodiscard]] std::vector<StandingMember> line(NodeIndex node) const {
    const Seen& seen = seen_[node];
    return read_line(seen.order, seen.alive, seen.time);
  }

 private:
  enum : Step { owner, life, counter, time, order, alive, counter_again, readers_of };
  struct Question {
    Step step;
    std::string command;
  };
  struct Seen {
    Reply time;  // these are about the line
    Reply order;
    Reply alive;
    std::vector<std::string> readers;
    std::size_t reader_count = 0;
    std::optional<std::uint64_t> counter_again;
  };

  void ask_all(NodeIndex node, std::span<const Question> questions, Outbox& outbox) {
    outbox.look_again(node);
    for (const Question& question : questions)
      if (!ask(node, question.step, question.command, outbox)) return;
  }

  void note_line(NodeIndex node, Step step, const Reply& reply) {
    Seen& seen = seen_[node];
    (step == time ? seen.time : step == order ? seen.order : seen.alive) = reply;
  }

  void note_readers(NodeIndex node, const Reply& reply) {
    if (reply.elements.empty()) return;
    const Reply& count = reply.elements.front();
    if (count.is(Reply::Kind::integer) && count.integer > 0)
      seen_[node].reader_count = static_cast<std::size_t>(count.integer);
    // Not what no client writes, or more than the script returns: a node may say anything.
    std::vector<std::string>& readers = seen_[node].readers;
    for (const Reply& reader : reply.elements)
      if (reader.is(Reply::Kind::string) && may_be_owner(reader.text) && readers.size() < most_named_readers)
        readers.push_back(reader.text);
  }

  void decide(Outbox& outbox) override {
    heed_caveats(outbox);
    Poll::decide(outbox);
  }

  std::string key_;
  std::vector<Seen> seen_;  // by node
};

}  // namespace redlock::inline v1::core
