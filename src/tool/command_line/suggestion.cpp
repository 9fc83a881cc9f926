#include "tool/command_line/suggestion.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace redlock::tool {
namespace {

/// The Damerau-Levenshtein distance in which no part is changed twice.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> least(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i)
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1,
                              least[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  return least[from.size()][to.size()];
}

constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"ls", "list"},       {"ps", "list"},      {"locks", "list"},     {"show", "status"},
    {"info", "status"},   {"get", "status"},   {"holder", "status"},  {"who", "status"},
    {"exec", "run"},      {"lock", "run"},     {"unlock", "release"}, {"free", "release"},
    {"del", "release"},   {"rm", "release"},   {"kill", "release"},   {"follow", "watch"},
    {"monitor", "watch"}, {"doctor", "nodes"}, {"servers", "nodes"}};

}  // namespace

std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t farthest = 2;
  const auto away = [word](const std::string& other) {
    const auto [shorter, longer] = std::minmax({word.size(), other.size()});
    return longer - shorter > farthest ? farthest + 1 : distance(word, other);
  };
  const auto nearest = std::ranges::min_element(known, {}, away);
  if (nearest == known.end() || away(*nearest) > farthest || 2 * away(*nearest) >= nearest->size())
    return std::nullopt;
  return *nearest;
}

std::optional<std::string> nearest_command(std::string_view word, std::span<const std::string> known) {
  for (const auto& [other, name] : other_names)
    if (word == other && std::ranges::find(known, name) != known.end()) return std::string{name};
  return nearest_word(word, known);
}

}  // namespace redlock::tool
