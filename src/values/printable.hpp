// Makes untrusted bytes safe to print.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "redlock/core/base/hex.hpp"

namespace redlock::inline v1::detail {

/// Returns how many bytes the first character has in UTF-8; zero if it is no character, or a control character.
[[nodiscard]] inline std::size_t printable_character(std::string_view text) noexcept {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7f ? 1 : 0;
  const std::size_t size = byte(0) < 0xc2   ? 0
                           : byte(0) < 0xe0 ? 2
                           : byte(0) < 0xf0 ? 3
                           : byte(0) < 0xf5 ? 4
                                            : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t at = 1; at < size; ++at)
    if ((byte(at) & 0xc0U) != 0x80) return 0;
  return byte(0) == 0xc2 && byte(1) < 0xa0 ? 0 : size;  // U+0080 to U+009F control a terminal
}

/// Escapes control characters, and bytes that are not UTF-8, and truncates long text. Servers choose their messages, and
/// other programs owner values and resources; none of these may break a line or control a terminal.
[[nodiscard]] inline std::string printable(std::string_view bytes, std::size_t longest_shown = 200) {
  std::string shown;
  std::string_view rest = bytes.substr(0, longest_shown);
  while (!rest.empty()) {
    const std::size_t size = printable_character(rest);
    if (size > 0)
      shown += rest.substr(0, size);
    else
      core::append_hex(shown += "\\x", static_cast<unsigned char>(rest.front()));
    rest.remove_prefix(std::max<std::size_t>(size, 1));
  }
  if (bytes.size() > longest_shown) shown += "...";
  return shown;
}

}  // namespace redlock::inline v1::detail
