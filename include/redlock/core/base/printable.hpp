// Makes untrusted bytes safe to print.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "redlock/core/base/hex.hpp"

namespace redlock::inline v1::core {

struct CharacterRange {
  char32_t first;
  char32_t last;
};
inline constexpr CharacterRange escaped_characters[] = {
    // C0, DEL and C1 control a terminal. Separators of lines and paragraphs may break a line.
    {0x0, 0x1f},
    {0x7f, 0x9f},
    {0x2028, 0x2029},
    // Bidirectional controls show a text in another order than it has. They, and all others that are not shown, such as the
    // zero-width space, are Default_Ignorable_Code_Point in Unicode.
    {0xad, 0xad},
    {0x34f, 0x34f},
    {0x61c, 0x61c},
    {0x115f, 0x1160},
    {0x17b4, 0x17b5},
    {0x180b, 0x180f},
    {0x200b, 0x200f},
    {0x202a, 0x202e},
    {0x2060, 0x206f},
    {0x3164, 0x3164},
    {0xfe00, 0xfe0f},
    {0xfeff, 0xfeff},
    {0xffa0, 0xffa0},
    {0xfff0, 0xfff8},
    {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a},
    {0xe0000, 0xe0fff},
    // Nor are interlinear annotations and noncharacters; the last two of each plane are noncharacters as well.
    {0xfff9, 0xfffb},
    {0xfdd0, 0xfdef},
};

/// Whether this character is shown as itself. If it is not, two texts may look alike, or do what their reader does not see.
[[nodiscard]] constexpr bool is_plain(char32_t character) noexcept {
  return (character & 0xfffeU) != 0xfffe &&
         std::ranges::none_of(escaped_characters, [=](CharacterRange range) {
           return character >= range.first && character <= range.last;
         });
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
