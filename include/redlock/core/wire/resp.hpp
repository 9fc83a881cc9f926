// Encodes commands as RESP arrays of bulk strings.
#pragma once

#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace redlock::inline v1::core {

/// Appends the decimal digits of an integer.
inline void append_number(std::string& out, long long number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

/// Appends one command. Arguments may contain any bytes.
inline void append_command(std::string& out, std::span<const std::string_view> arguments) {
  constexpr std::size_t framing = 16;  // per argument: the `$`, the digits of its length and two line ends
  std::size_t size = out.size() + framing;
  for (const std::string_view argument : arguments) size += framing + argument.size();
  out.reserve(size);
  out += '*';
  append_number(out, static_cast<long long>(arguments.size()));
  out += "\r\n";
  for (const std::string_view argument : arguments) {
    out += '$';
    append_number(out, static_cast<long long>(argument.size()));
    out += "\r\n";
    out += argument;
    out += "\r\n";
  }
}

inline void append_command(std::string& out, std::initializer_list<std::string_view> arguments) {
  append_command(out, std::span{arguments.begin(), arguments.size()});
}

[[nodiscard]] inline std::string command(std::initializer_list<std::string_view> arguments) {
  std::string out;
  append_command(out, arguments);
  return out;
}

}  // namespace redlock::inline v1::core
