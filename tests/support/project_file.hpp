// Reads files of the project.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace redlock::testing {

/// The root of the checkout.
inline const std::filesystem::path project = REDLOCK_SOURCE_DIR;

/// The whole content of a file. `name` is relative to the root of the checkout.
inline std::string read_project_file(const std::filesystem::path& name) {
  std::ifstream file{project / name, std::ios::binary};
  if (!file) throw std::runtime_error{"cannot read " + name.string()};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace redlock::testing
