// Compares a source tree with the rules of its layers.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "layers/rules.hpp"

namespace redlock::layers {

struct Violation {
  std::string where;  // a file, named from the top of the tree, with a line if there is one; or a folder
  std::string what;

  friend bool operator==(const Violation&, const Violation&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Violation& violation) {
    return out << violation.where << ": " << violation.what;
  }
};

class Checker {
 public:
  Checker(std::filesystem::path tree, Rules rules);

  /// The table itself: each room includes only rooms that are listed before it.
  std::vector<Violation> table() const;
  /// Every file of the product is in a room and includes only existing files that its room may include.
  std::vector<Violation> includes() const;
  /// No folder has too many files, no header and no function too many lines.
  std::vector<Violation> sizes() const;
  /// Every source file of the product is named in a CMakeLists.txt of its folder or of one above it.
  std::vector<Violation> build() const;

 private:
  using Path = std::filesystem::path;

  std::vector<Path> files_below(const std::vector<std::string>& folders) const;
  const Room* room_of(const Path& file) const;
  void check_own(const Room& room, const Path& included, const std::string& where,
                 std::vector<Violation>& found) const;
  void check_foreign(const Path& file, const std::string& header, const std::string& where,
                     std::vector<Violation>& found) const;
  /// Returns an empty path for a header that is not the project's own.
  Path resolved(const std::string& include) const;
  bool is_in_the_build(const Path& file) const;

  Path tree_;
  Rules rules_;
};

}  // namespace redlock::layers
