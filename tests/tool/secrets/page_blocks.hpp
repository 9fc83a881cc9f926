// The blocks of a page, which tests run as its readers do.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/project_file.hpp"

namespace redlock::testing {

/// The blocks of each section of a page, also of its parts: what stands between two lines that begin with ```.
inline std::map<std::string, std::vector<std::string>> blocks_of(const std::string& page) {
  std::map<std::string, std::vector<std::string>> blocks;
  std::istringstream text{read_project_file(page)};
  std::string section;
  bool is_inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) {
      is_inside = !is_inside;
      if (is_inside) blocks[section].emplace_back();
    } else if (is_inside) {
      std::string& block = blocks[section].back();
      block += (block.empty() ? "" : "\n") + line;
    } else if (line.starts_with("## ")) {
      section = line.substr(3);
    }
  }
  return blocks;
}

inline std::vector<std::string> words_of(const std::string& line) {
  std::istringstream words{line};
  return {std::istream_iterator<std::string>{words}, {}};
}

/// The text with `to` wherever it has `from`.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace redlock::testing
