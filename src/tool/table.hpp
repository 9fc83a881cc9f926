// A table for people on stdout.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

namespace redlock::tool {

/// The number of code points of a text in UTF-8.
[[nodiscard]] inline std::size_t width_of(std::string_view text) noexcept {
  const auto begins_one = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_one));
}

/// Prints a table in portions, as they come. Its columns grow, but do not shrink. The first row has the headings.
template <std::size_t columns>
class Table {
 public:
  using Row = std::array<std::string, columns>;

  void print(std::span<const Row> rows) {
    for (const Row& row : rows)
      for (std::size_t column = 0; column < columns; ++column)
        widths_[column] = std::max(widths_[column], width_of(row[column]));
    for (const Row& row : rows) {
      std::string line;
      for (std::size_t column = 0; column < columns; ++column)
        line += row[column] + std::string(widths_[column] - width_of(row[column]) + 2, ' ');
      line.erase(line.find_last_not_of(' ') + 1);
      std::cout << line << '\n';
    }
  }

 private:
  std::array<std::size_t, columns> widths_{};
};

}  // namespace redlock::tool
