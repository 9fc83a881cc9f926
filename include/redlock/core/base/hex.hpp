// Bytes as hex digits.
#pragma once

#include <string>
#include <string_view>

namespace redlock::inline v1::core {

inline constexpr std::string_view lower_hex = "0123456789abcdef";
inline constexpr std::string_view upper_hex = "0123456789ABCDEF";

/// Appends the two hex digits of one byte.
inline void append_hex(std::string& out, unsigned char byte, std::string_view digits = lower_hex) {
  out += digits[byte >> 4U];
  out += digits[byte & 15U];
}

}  // namespace redlock::inline v1::core
