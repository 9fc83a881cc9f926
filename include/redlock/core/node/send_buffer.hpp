// The bytes that are to be sent on one connection.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "redlock/core/base/ring.hpp"
#include "redlock/login/secret.hpp"

namespace redlock::inline v1::core {

/// Commands in order, as one contiguous run of bytes. The buffer remembers where each command ends, so that it can keep
/// the releases and drop the other commands when the connection is given up.
class SendBuffer {
 public:
  using Bytes = redlock::detail::WipedString;

  /// `rest`: the end of the command. Without memory it throws, and adds nothing.
  void add(std::string_view command, bool is_release, std::string_view rest = {}) {
    const std::size_t size = bytes_.size() + command.size() + rest.size();
    if (size > bytes_.capacity()) bytes_.reserve(std::max(size, 2 * bytes_.capacity()));
    commands_.make_room();
    bytes_.append(command).append(rest);
    commands_.push({command.size() + rest.size(), is_release});
  }
  /// Likewise, for commands with a password: leaves nothing of them in memory once all is sent.
  void add_secret(std::string_view command) {
    add(command, false);
    has_secret_ = true;
  }
  [[nodiscard]] std::string_view unsent() const noexcept { return {bytes_.data() + sent_, size()}; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() - sent_; }

  void sent(std::size_t count) {
    sent_ += count;
    for (count += of_first_; !commands_.empty() && count >= commands_.front().size;)
      count -= commands_.pop().size;
    of_first_ = count;
    if (has_secret_ && sent_ == bytes_.size()) clear();
    if (sent_ < bytes_.size() - sent_) return;  // moves the rest only when it is no larger than what was sent
    bytes_.erase(0, sent_);
    sent_ = 0;
  }

  /// Takes the rest of a partially sent command and all releases, and drops the other commands: a SET sent now on the
  /// old connection could run after its release on the new one.
  [[nodiscard]] Bytes take_releases() {
    Bytes taken;
    std::string_view rest = unsent();
    std::size_t part = of_first_;
    while (!commands_.empty()) {
      const Command command = commands_.pop();
      const std::size_t size = command.size - part;
      if (command.is_release || part > 0) taken += rest.substr(0, size);
      rest.remove_prefix(size);
      part = 0;
    }
    clear();
    return taken;
  }
  void clear() noexcept {
    if (std::exchange(has_secret_, false)) {
      bytes_.resize(bytes_.capacity());  // what was sent before may still be behind the end
      redlock::detail::wipe(bytes_.data(), bytes_.size());
    }
    bytes_.clear();
    commands_.clear();
    sent_ = 0;
    of_first_ = 0;
  }

 private:
  struct Command {
    std::size_t size = 0;
    bool is_release = false;
  };
  Bytes bytes_;
  std::size_t sent_ = 0;      // how many of bytes_ were sent
  Ring<Command> commands_;    // those not sent completely
  std::size_t of_first_ = 0;  // how many bytes of the first command were sent
  bool has_secret_ = false;
};

}  // namespace redlock::inline v1::core
