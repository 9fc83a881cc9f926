// Encodes commands as RESP arrays of bulk strings, and takes them apart.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::inline v1::core {

/// How many bytes surround an argument at most: the `$`, the digits of its length and two line ends.
inline constexpr std::size_t framing = 32;

/// Writes a kind of element, its length in decimal digits, and a line end. Returns the position behind them.
inline char* write_length(char* to, char kind, std::size_t length) noexcept {
  *to++ = kind;
  to = std::to_chars(to, to + framing, length).ptr;
  *to++ = '\r';
  *to++ = '\n';
  return to;
}
/// Writes one argument, which may contain any bytes. Returns the position behind it.
inline char* write_argument(char* to, std::string_view argument) noexcept {
  to = write_length(to, '$', argument.size());
  to = std::copy(argument.begin(), argument.end(), to);
  *to++ = '\r';
  *to++ = '\n';
  return to;
}

/// Appends one command to a string. `to_follow`: how many arguments the caller appends.
template <class String>
void append_command(String& out, std::span<const std::string_view> arguments, std::size_t to_follow = 0) {
  const std::size_t begin = out.size();
  std::size_t size = begin + framing;
  for (const std::string_view argument : arguments) size += framing + argument.size();
  out.resize(size);
  char* end = write_length(out.data() + begin, '*', arguments.size() + to_follow);
  for (const std::string_view argument : arguments) end = write_argument(end, argument);
  out.resize(static_cast<std::size_t>(end - out.data()));
}

template <class String>
void append_command(String& out, std::initializer_list<std::string_view> arguments) {
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
