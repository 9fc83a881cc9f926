// Rewrites the replies of a server one by one.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {

/// Returns what the client gets instead of `reply`, the encoded reply to `command`: anything, also nothing or more replies
/// than one. The command is empty for a message that the server sends by itself.
using ReplyRewriting = std::function<std::string(const std::vector<std::string>& command, std::string reply)>;

namespace detail {

/// Finds the replies in the bytes of one connection, and the commands that they answer. Both sides speak RESP2.
class ReplyRewriter {
 public:
  /// The client has sent these bytes.
  void asked(std::string_view bytes);
  /// The server has sent these bytes. Returns what the client gets; an incomplete reply is kept until its rest comes.
  [[nodiscard]] std::string answered(std::string_view bytes, const ReplyRewriting& rewriting);

 private:
  std::string unread_commands_;
  std::string unread_replies_;
  std::deque<std::vector<std::string>> commands_;  // those that are not answered yet
};

}  // namespace detail
}  // namespace redlock::testing
