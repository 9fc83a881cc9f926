// Users and passwords of nodes in the words of a command line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::tool {

struct Place {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Where a text has the user and the password of a URL. A path may have another @ behind them: then the place is larger.
[[nodiscard]] inline std::optional<Place> find_credentials(std::string_view text) noexcept {
  const std::size_t scheme = text.find("://");
  const std::size_t end = text.rfind('@');
  if (scheme == text.npos || end == text.npos || end <= scheme + 3) return std::nullopt;
  return Place{scheme + 3, end};
}

/// The text without these.
[[nodiscard]] inline std::string without_credentials(std::string text) {
  if (const auto place = find_credentials(text)) text.replace(place->begin, place->end - place->begin, "***");
  return text;
}

}  // namespace redlock::tool
