// Makes untrusted bytes safe to print.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "redlock/core/base/hex.hpp"

namespace redlock::inline v1::core {

/// Whether this character is shown as itself. Characters of C1 (U+0080 to U+009F) control a terminal. Line and paragraph
/// separators may break a line, and bidirectional controls show a text in another order than it has.
[[nodiscard]] constexpr bool is_plain(char32_t character) noexcept {
  const auto is_within = [character](char32_t first, char32_t last) {
    return character >= first && character <= last;
  };
  return !is_within(0, 0x1f) && !is_within(0x7f, 0x9f) && character != 0x61c && !is_within(0x200e, 0x200f) &&
         !is_within(0x2028, 0x202e) && !is_within(0x2066, 0x206f);
}

/// Returns how many bytes the first character has in UTF-8; zero if it is none, or not a plain one. Bytes that encode a
/// character in more bytes than necessary, or a half of a surrogate pair, are none.
[[nodiscard]] inline std::size_t printable_character(std::string_view text) noexcept {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const std::size_t size = byte(0) < 0x80   ? 1
                           : byte(0) < 0xc2 ? 0
                           : byte(0) < 0xe0 ? 2
                           : byte(0) < 0xf0 ? 3
                           : byte(0) < 0xf5 ? 4
                                            : 0;
  if (size == 0 || text.size() < size) return 0;
  char32_t character = size == 1 ? byte(0) : byte(0) & (0x7fU >> size);
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xc0U) != 0x80) return 0;
    character = character << 6U | (byte(at) & 0x3fU);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = character >= 0xd800 && character <= 0xdfff;
  return character < least[size] || is_surrogate || character > 0x10ffff || !is_plain(character) ? 0 : size;
}

/// Escapes characters that are not plain, and bytes that are not UTF-8, and truncates long text. What it returns, it leaves
/// unchanged. Servers choose their messages, and other programs owner values and resources; none of these may break a
/// line, control a terminal, or look like another text.
[[nodiscard]] inline std::string printable(std::string_view bytes, std::size_t longest_shown = 200) {
  std::string shown;
  std::string_view rest = bytes.substr(0, longest_shown);
  while (!rest.empty()) {
    const std::size_t size = printable_character(rest);
    if (size > 0)
      shown += rest.substr(0, size);
    else
      append_hex(shown += "\\x", static_cast<unsigned char>(rest.front()));
    rest.remove_prefix(std::max<std::size_t>(size, 1));
  }
  if (bytes.size() > longest_shown) shown += "...";
  return shown;
}

}  // namespace redlock::inline v1::core
