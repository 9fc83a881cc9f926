// Bytes as hex digits.
#pragma once

#include <string>
#include <string_view>

namespace redlock::inline v1::core {

inline constexpr std::string_view lower_hex = "0123456789abcdef";
inline constexpr std::string_view upper_hex = "0123456789ABCDEF";

/// Writes the two hex digits of one byte. Returns the position behind them.
inline char* write_hex(char* to, unsigned char byte, std::string_view digits = lower_hex) noexcept {
  *to++ = digits[byte >> 4U];
  *to++ = digits[byte & 15U];
  return to;
}
/// Appends them.
inline void append_hex(std::string& out, unsigned char byte, std::string_view digits = lower_hex) {
  char both[2];
  write_hex(both, byte, digits);
  out.append(both, 2);
}

}  // namespace redlock::inline v1::core
