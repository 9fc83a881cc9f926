// What is to be sent on one connection.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "redlock/core/base/ring.hpp"

namespace redlock::inline v1::core {

/// Commands in order, as one run of bytes to send from, which still knows where each command ends: when the
/// connection is given up, releases go their way and everything else stays behind.
class SendBuffer {
 public:
  /// `owed`: a release.
  void add(std::string_view command, bool owed) {
    bytes_ += command;
    commands_.push({command.size(), owed});
  }
  [[nodiscard]] std::string_view unsent() const noexcept { return std::string_view{bytes_}.substr(sent_); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() - sent_; }

  void sent(std::size_t count) {
    sent_ += count;
    for (count += of_first_; !commands_.empty() && count >= commands_.front().size;)
      count -= commands_.pop().size;
    of_first_ = count;
    if (sent_ < bytes_.size() - sent_) return;  // moving what is left costs less than sending it did
    bytes_.erase(0, sent_);
    sent_ = 0;
  }

  /// The rest of a command that was sent in part, and the releases; the others are forgotten. A SET sent now
  /// would be executed on the old connection after its release on the new one.
  [[nodiscard]] std::string take_last_words() {
    std::string words;
    std::string_view rest = unsent();
    std::size_t part = of_first_;
    while (!commands_.empty()) {
      const Command command = commands_.pop();
      const std::size_t size = command.size - part;
      if (command.owed || part > 0) words += rest.substr(0, size);
      rest.remove_prefix(size);
      part = 0;
    }
    clear();
    return words;
  }
  void clear() noexcept {
    bytes_.clear();
    commands_.clear();
    sent_ = 0;
    of_first_ = 0;
  }

 private:
  struct Command {
    std::size_t size = 0;
    bool owed = false;
  };
  std::string bytes_;
  std::size_t sent_ = 0;      // of bytes_
  Ring<Command> commands_;    // not sent, or in part
  std::size_t of_first_ = 0;  // bytes of the first that were sent
};

}  // namespace redlock::inline v1::core
