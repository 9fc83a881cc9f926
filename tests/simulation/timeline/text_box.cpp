#include "simulation/timeline/text_box.hpp"

#include <algorithm>

namespace redlock::simulation {
namespace {

/// Width in thousandths of the font size.
int char_width(char c) {
  constexpr std::string_view narrow = " .,:;!'|/\\iljft()[]-\"";
  constexpr std::string_view wide = "mwMW%@";
  if (narrow.find(c) != std::string_view::npos) return 340;
  if (wide.find(c) != std::string_view::npos) return 960;
  return c >= 'A' && c <= 'Z' ? 740 : 570;
}

}  // namespace

int text_width(std::string_view text, int font_size) {
  int width = 0;
  for (const char c : text) width += char_width(c);
  return width * font_size / 1000 + 1;
}

std::vector<std::string> wrapped(std::string_view text, int font_size, int width, std::size_t most_lines) {
  std::vector<std::string> lines;
  do {
    std::size_t fits = 0;
    while (fits < text.size() && text_width(text.substr(0, fits + 1), font_size) <= width) ++fits;
    fits = std::max<std::size_t>(fits, 1);
    std::size_t end = std::min(fits, text.size());
    if (end < text.size() && text[end] != ' ')
      if (const auto space = text.substr(0, end).rfind(' '); space != std::string_view::npos && space > 0)
        end = space;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  } while (!text.empty() && lines.size() < most_lines);
  if (!text.empty()) {
    std::string& last = lines.back();
    while (!last.empty() && text_width(last + "...", font_size) > width) last.pop_back();
    last += "...";
  }
  return lines;
}

}  // namespace redlock::simulation
