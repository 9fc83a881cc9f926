// Files of the project that tests look into.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace redlock::testing {

/// The checkout.
inline const std::filesystem::path project = REDLOCK_SOURCE_DIR;

/// All of a file, named as it is from the top of the checkout.
inline std::string read_project_file(const std::filesystem::path& name) {
  std::ifstream file{project / name, std::ios::binary};
  if (!file) throw std::runtime_error{"cannot read " + name.string()};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace redlock::testing
