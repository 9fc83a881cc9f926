// Takes a lock from its holder.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/operation/poll.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// Releases a lock in the name of each of these owners, on all nodes. In the tally, no means that a copy was deleted there, and
/// yes that none of them had one.
class Breaking final : public Poll {
 public:
  static constexpr std::size_t most_owners = most_named_readers;
  static constexpr std::size_t longest_owner = core::longest_owner;  // in bytes

  Breaking(std::string key, std::span<const std::string_view> owners, std::size_t nodes, Span node_timeout)
      : Poll{nodes, node_timeout}, key_{std::move(key)}, command_{command_for(key_, owners)} {}

  void start(Time now, Outbox& outbox) override {
    begin(now);
    for (NodeIndex node = 0; node < tally_.nodes(); ++node)
      if (ask(node, Step{}, command_, outbox)) outbox.touched(node, key_);
    decide(outbox);
  }
  void answered(NodeIndex node, Step, const Reply& reply, Time, Outbox& outbox) override {
    if (!awaits(node)) return;
    if (reply.is(Reply::Kind::integer)) {
      tally_.mark(node, reply.integer != 0 ? Tally::Mark::no : Tally::Mark::yes);
      are_readers_ |= reply.integer < 0;
    } else {
      tally_.mark(node, Tally::Mark::unknown, trouble_of(reply, "a number"));
    }
    decide(outbox);
  }

  [[nodiscard]] std::string_view written_key() const noexcept override { return key_; }
  /// The owners whose copies were deleted are readers.
  [[nodiscard]] bool are_readers() const noexcept { return are_readers_; }

 private:
  static std::string command_for(const std::string& key, std::span<const std::string_view> owners) {
    const std::string source = break_source();
    const std::string readers = readers_key(key);
    std::vector<std::string_view> words{"EVAL", source, "1", key, readers};
    words.insert(words.end(), owners.begin(), owners.end());
    std::string command;
    append_command(command, words);
    return command;
  }

  const std::string key_;
  const std::string command_;
  bool are_readers_ = false;
};

}  // namespace redlock::inline v1::core
