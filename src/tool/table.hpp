// A table for people on stdout.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <span>
#include <string>

namespace redlock::tool {

/// Prints a table in portions, as they come. Its columns grow, but do not shrink. The first row has the headings.
template <std::size_t columns>
class Table {
 public:
  using Row = std::array<std::string, columns>;

  void print(std::span<const Row> rows) {
    for (const Row& row : rows)
      for (std::size_t column = 0; column < columns; ++column)
        widths_[column] = std::max(widths_[column], row[column].size());
    for (const Row& row : rows) {
      std::string line;
      for (std::size_t column = 0; column < columns; ++column)
        line += row[column] + std::string(widths_[column] - row[column].size() + 2, ' ');
      line.erase(line.find_last_not_of(' ') + 1);
      std::cout << line << '\n';
    }
  }

 private:
  std::array<std::size_t, columns> widths_{};
};

}  // namespace redlock::tool
