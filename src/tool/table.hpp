// A table for people on stdout.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

namespace redlock::tool {

/// Prints the rows, the first of which has the headings, with columns as wide as their longest cell.
template <std::size_t columns>
void print_table(const std::vector<std::array<std::string, columns>>& rows) {
  std::array<std::size_t, columns> widths{};
  for (const auto& row : rows)
    for (std::size_t column = 0; column < columns; ++column)
      widths[column] = std::max(widths[column], row[column].size());
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < columns; ++column)
      line += row[column] + std::string(widths[column] - row[column].size() + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    std::cout << line << '\n';
  }
}

}  // namespace redlock::tool
