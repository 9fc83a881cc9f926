// Makes untrusted bytes safe to print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "redlock/core/base/hex.hpp"

namespace redlock::inline v1::detail {

/// Escapes control characters and truncates long text. Servers choose their messages, and other programs owner values
/// and resources; none of these may break a line or control a terminal.
[[nodiscard]] inline std::string printable(std::string_view bytes, std::size_t longest_shown = 200) {
  std::string shown;
  for (const char byte : bytes.substr(0, longest_shown)) {
    const auto value = static_cast<unsigned char>(byte);
    if (value >= 0x20 && value != 0x7f) {
      shown += byte;
    } else {
      core::append_hex(shown += "\\x", value);
    }
  }
  if (bytes.size() > longest_shown) shown += "...";
  return shown;
}

}  // namespace redlock::inline v1::detail
