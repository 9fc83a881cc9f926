// Bytes as text with percent signs, as in URLs (RFC 3986).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "redlock/core/base/hex.hpp"

namespace redlock::inline v1::core {

/// Letters, digits, '-', '.', '_' and '~'.
constexpr bool is_unreserved(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

/// Leaves unreserved characters and those of `kept` as they are. The digits are in upper case.
inline std::string percent_encoded(std::string_view bytes, std::string_view kept = {}) {
  std::string text;
  for (const char c : bytes) {
    if (is_unreserved(c) || kept.find(c) != kept.npos)
      text += c;
    else
      append_hex(text += '%', static_cast<unsigned char>(c), upper_hex);
  }
  return text;
}

/// The value of a hex digit of either case, or `npos`.
constexpr std::size_t hex_value(char digit) noexcept {
  const std::size_t value = lower_hex.find(digit);
  return value != lower_hex.npos ? value : upper_hex.find(digit);
}

/// Appends the bytes that the text stands for. Returns false if a '%' is not followed by two hex digits.
[[nodiscard]] inline bool append_percent_decoded(std::string& bytes, std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      bytes += text[at];
      continue;
    }
    if (text.size() - at < 3) return false;
    const std::size_t high = hex_value(text[at + 1]);
    const std::size_t low = hex_value(text[at + 2]);
    if (high == text.npos || low == text.npos) return false;
    bytes += static_cast<char>(high << 4U | low);
    at += 2;
  }
  return true;
}

}  // namespace redlock::inline v1::core
