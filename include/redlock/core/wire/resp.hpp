// Encodes commands as RESP arrays of bulk strings, and takes them apart.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::inline v1::core {

/// Appends `before`, a length in decimal digits, and a line end.
inline void append_length(std::string& out, std::string_view before, std::size_t length) {
  char text[32];
  char* end = std::copy(before.begin(), before.end(), text);
  end = std::to_chars(end, std::end(text) - 2, length).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.append(text, static_cast<std::size_t>(end - text));
}

/// Appends one command. Arguments may contain any bytes. `to_follow`: how many arguments the caller appends.
inline void append_command(std::string& out, std::span<const std::string_view> arguments,
                           std::size_t to_follow = 0) {
  constexpr std::size_t framing = 16;  // per argument: the `$`, the digits of its length and two line ends
  std::size_t size = out.size() + framing;
  for (const std::string_view argument : arguments) size += framing + argument.size();
  out.reserve(size);
  append_length(out, "*", arguments.size() + to_follow);
  std::string_view before = "$";
  for (const std::string_view argument : arguments) {
    append_length(out, before, argument.size());
    out += argument;
    before = "\r\n$";
  }
  if (!arguments.empty()) out.append("\r\n", 2);
}

/// Appends one more argument to a command whose number of arguments includes it.
inline void append_argument(std::string& out, std::string_view argument) {
  append_length(out, "$", argument.size());
  out.append(argument).append("\r\n", 2);
}

inline void append_command(std::string& out, std::initializer_list<std::string_view> arguments) {
  append_command(out, std::span{arguments.begin(), arguments.size()});
}

[[nodiscard]] inline std::string command(std::initializer_list<std::string_view> arguments) {
  std::string out;
  append_command(out, arguments);
  return out;
}

/// For servers in memory: removes the first command from `bytes`, which consist of whole commands, and sets `words` to its
/// arguments.
inline void take_command(std::string_view& bytes, std::vector<std::string_view>& words) {
  const auto take_length = [&bytes] {
    const std::size_t end = bytes.find('\r');
    std::size_t length = 0;
    std::from_chars(bytes.data() + 1, bytes.data() + end, length);
    bytes.remove_prefix(end + 2);
    return length;
  };
  words.clear();
  for (std::size_t left = take_length(); left > 0; --left) {
    const std::size_t length = take_length();
    words.push_back(bytes.substr(0, length));
    bytes.remove_prefix(length + 2);
  }
}

}  // namespace redlock::inline v1::core
