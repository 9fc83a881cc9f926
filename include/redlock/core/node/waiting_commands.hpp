// Commands that wait for a connection to their node.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/time.hpp"
#include "redlock/core/node/pending_replies.hpp"

namespace redlock::inline v1::core {

/// Commands in the order in which they are to be sent once the connection is ready.
class WaitingCommands {
 public:
  struct Command {
    std::string bytes;
    ReplySlot slot;
    Time send_by;
  };

  /// The size of all commands together.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  void add(std::string_view command, ReplySlot slot, Time send_by) {
    commands_.push_back({std::string{command}, std::move(slot), send_by});
    bytes_ += command.size();
  }
  /// Takes all commands, also those whose `send_by` has passed.
  [[nodiscard]] std::vector<Command> take_all() noexcept {
    bytes_ = 0;
    return std::exchange(commands_, {});
  }
  /// Drops everything except releases that may still be sent. Their operations no longer receive the replies.
  void keep_only_releases(Time now) {
    std::erase_if(commands_, [now](const Command& command) {
      return !command.slot.is_release || now >= command.send_by;
    });
    bytes_ = 0;
    for (Command& command : commands_) {
      command.slot.operation = {};
      bytes_ += command.bytes.size();
    }
  }

 private:
  std::vector<Command> commands_;
  std::size_t bytes_ = 0;
};

}  // namespace redlock::inline v1::core
