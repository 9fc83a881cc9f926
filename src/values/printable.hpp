// Bytes of others, for people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "redlock/core/base/hex.hpp"

namespace redlock::inline v1::detail {

/// Servers choose their words, and other programs owner values and resources: none may break a line, or a terminal.
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
