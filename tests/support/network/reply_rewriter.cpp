#include "support/network/reply_rewriter.hpp"

#include <cstdlib>
#include <optional>
#include <utility>

namespace redlock::testing::detail {
namespace {

/// The number after the first byte of this line; -1 if there is none.
long long number_in(std::string_view line) {
  return line.size() < 2 ? -1 : std::strtoll(std::string{line.substr(1)}.c_str(), nullptr, 10);
}

/// Takes one value of RESP2 off `bytes`, and appends its strings to `strings`. Returns false if it is not complete.
bool skip_value(std::string_view& bytes, std::vector<std::string>& strings) {
  const std::size_t end = bytes.find("\r\n");
  if (end == bytes.npos) return false;
  const std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(end + 2);
  const long long number = number_in(line);
  if (line.starts_with('*')) {
    for (long long left = number; left > 0; --left)
      if (!skip_value(bytes, strings)) return false;
  } else if (line.starts_with('$') && number >= 0) {
    const auto size = static_cast<std::size_t>(number);
    if (bytes.size() < size + 2) return false;
    strings.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size + 2);
  }
  return true;
}

struct Value {
  std::string bytes;
  std::vector<std::string> strings;
};

/// Takes the first value off `bytes`; none if it is not complete.
std::optional<Value> take_value(std::string& bytes) {
  std::string_view rest{bytes};
  Value value;
  if (!skip_value(rest, value.strings)) return std::nullopt;
  const std::size_t size = bytes.size() - rest.size();
  value.bytes = bytes.substr(0, size);
  bytes.erase(0, size);
  return value;
}

}  // namespace

void ReplyRewriter::asked(std::string_view bytes) {
  unread_commands_ += bytes;
  while (auto command = take_value(unread_commands_)) commands_.push_back(std::move(command->strings));
}

std::string ReplyRewriter::answered(std::string_view bytes, const ReplyRewriting& rewriting) {
  unread_replies_ += bytes;
  std::string all;
  while (auto reply = take_value(unread_replies_)) {
    std::vector<std::string> command;
    const bool is_message = !reply->strings.empty() && reply->strings.front() == "message";
    if (!is_message && !commands_.empty()) {
      command = std::move(commands_.front());
      commands_.pop_front();
    }
    all += rewriting ? rewriting(command, std::move(reply->bytes)) : std::move(reply->bytes);
  }
  return all;
}

}  // namespace redlock::testing::detail
