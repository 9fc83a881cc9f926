#include "tool/line_text.hpp"

#include <nlohmann/json.hpp>

#include "redlock/core/base/printable.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {

std::string ordinal(std::size_t position) {
  constexpr const char* endings[] = {"th", "st", "nd", "rd"};
  const bool is_teen = position / 10 % 10 == 1;
  const std::size_t digit = position % 10;
  return std::to_string(position) + endings[is_teen || digit > 3 ? 0 : digit];
}

std::string line_length_text(std::size_t length) {
  return length == 0 ? std::string{} : ", " + std::to_string(length) + " in line";
}

std::string line_table(std::span<const InLine> line) {
  std::string text;
  std::size_t position = 0;
  for (const InLine& one : line)
    text += "  " + ordinal(++position) + " in line: " + core::printable(one.label) + ", for " +
            readable(one.waited) + '\n';
  return text;
}

nlohmann::json line_json(std::span<const InLine> line) {
  nlohmann::json all = nlohmann::json::array();
  for (const InLine& one : line)
    all.push_back({{"position", all.size() + 1},
                   {"client", one.client},
                   {"label", one.label},
                   {"waited_ms", milliseconds_of(one.waited)}});
  return all;
}

}  // namespace redlock::tool
