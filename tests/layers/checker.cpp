#include "layers/checker.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <stdexcept>

#include "layers/source.hpp"

namespace redlock::layers {
namespace {

using Path = std::filesystem::path;

bool contains(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

bool is_below(const Path& file, const Path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

std::string at_line(const Path& file, int line) { return file.generic_string() + ":" + std::to_string(line); }

std::string limit(int found, const char* what, int allowed) {
  return std::to_string(found) + " " + what + ", at most " + std::to_string(allowed) + " allowed";
}

}  // namespace

Checker::Checker(Path tree, Rules rules) : tree_{std::move(tree)}, rules_{std::move(rules)} {}

std::vector<Violation> Checker::table() const {
  std::vector<Violation> found;
  std::vector<std::string> below;
  for (const Room& room : rules_.rooms) {
    for (const std::string& other : room.may_include)
      if (!contains(below, other))
        found.push_back({room.name, "may include " + other + ", which is not below it"});
    for (const std::string& place : room.places)
      if (!std::filesystem::exists(tree_ / place)) found.push_back({room.name, place + " does not exist"});
    below.push_back(room.name);
  }
  return found;
}

std::vector<Violation> Checker::includes() const {
  std::vector<Violation> found;
  for (const Path& file : files_below(rules_.product)) {
    const Room* const room = room_of(file);
    if (room == nullptr) {
      found.push_back({file.generic_string(), "is in no room of the table"});
      continue;
    }
    for (const Include& include : includes_of(text_of(tree_ / file))) {
      const std::string where = at_line(file, include.line);
      const Path own = resolved(include.name);
      if (!own.empty())
        check_own(*room, own, where, found);
      else if (include.is_quoted)
        found.push_back({where, "includes " + include.name + ", which does not exist"});
      else
        check_foreign(file, include.name, where, found);
    }
  }
  return found;
}

void Checker::check_own(const Room& room, const Path& included, const std::string& where,
                        std::vector<Violation>& found) const {
  const Room* const other = room_of(included);
  if (other == nullptr || other->name == room.name || contains(room.may_include, other->name)) return;
  found.push_back(
      {where, room.name + " may not include " + other->name + " (" + included.generic_string() + ")"});
}

void Checker::check_foreign(const Path& file, const std::string& header, const std::string& where,
                            std::vector<Violation>& found) const {
  const auto in_one_of = [&file](const std::vector<std::string>& places) {
    return std::any_of(places.begin(), places.end(),
                       [&](const auto& place) { return is_below(file, place); });
  };
  for (const auto& [name, places] : rules_.reserved) {
    const bool is_meant = name.back() == '/' ? header.rfind(name, 0) == 0 : header == name;
    if (is_meant && !in_one_of(places)) found.push_back({where, "may not include <" + header + ">"});
  }
  const bool is_of_the_system = header.find_first_of("./") != std::string::npos;
  if (is_below(file, rules_.pure) && (is_of_the_system || contains(rules_.impure, header)))
    found.push_back({where, "does no I/O, and may not include <" + header + ">"});
}

std::vector<Violation> Checker::sizes() const {
  std::vector<Violation> found;
  std::map<Path, int> files_in;
  for (const Path& file : files_below(rules_.roots)) ++files_in[file.parent_path()];
  for (const auto& [folder, files] : files_in)
    if (files > rules_.folder_files)
      found.push_back({folder.generic_string(), limit(files, "files", rules_.folder_files)});

  for (const Path& file : files_below(rules_.product)) {
    const std::string text = text_of(tree_ / file);
    if (file.extension() == ".hpp" && line_count(text) > rules_.header_lines)
      found.push_back({file.generic_string(), limit(line_count(text), "lines", rules_.header_lines)});
    try {
      for (const Function& function : functions_of(text))
        if (function.lines > rules_.function_lines)
          found.push_back(
              {at_line(file, function.line),
               function.signature + ": " + limit(function.lines, "lines", rules_.function_lines)});
    } catch (const std::runtime_error& mismatch) {
      found.push_back({file.generic_string(), mismatch.what()});
    }
  }
  return found;
}

std::vector<Violation> Checker::build() const {
  std::vector<Violation> found;
  for (const Path& file : files_below(rules_.product))
    if (file.extension() == ".cpp" && !is_in_the_build(file))
      found.push_back({file.generic_string(), "is in no CMakeLists.txt"});
  return found;
}

std::vector<Path> Checker::files_below(const std::vector<std::string>& folders) const {
  std::vector<Path> files;
  for (const std::string& folder : folders) {
    if (!std::filesystem::exists(tree_ / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{tree_ / folder}) {
      const Path extension = entry.path().extension();
      if (entry.is_regular_file() && (extension == ".hpp" || extension == ".cpp"))
        files.push_back(entry.path().lexically_relative(tree_));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

const Room* Checker::room_of(const Path& file) const {
  const std::string name = file.generic_string();
  const std::string folder = file.parent_path().generic_string();
  const Room* of_the_folder = nullptr;
  for (const Room& room : rules_.rooms) {
    if (contains(room.places, name)) return &room;
    if (contains(room.places, folder)) of_the_folder = &room;
  }
  return of_the_folder;
}

Path Checker::resolved(const std::string& include) const {
  for (const std::string& directory : rules_.include_directories)
    if (std::filesystem::is_regular_file(tree_ / directory / include)) return Path{directory} / include;
  return {};
}

bool Checker::is_in_the_build(const Path& file) const {
  for (Path folder = file; folder.has_relative_path();) {
    folder = folder.parent_path();
    const Path list = tree_ / folder / "CMakeLists.txt";
    if (!std::filesystem::exists(list)) continue;
    static const std::regex comment{"#[^\n]*"};
    static const std::regex special{"[.+]"};
    const Path from_there = folder.empty() ? file : file.lexically_relative(folder);
    const std::string name = std::regex_replace(from_there.generic_string(), special, R"(\$&)");
    const std::regex named{R"((^|[\s(;"]|\}/))" + name + R"(($|[\s);"]))"};
    if (std::regex_search(std::regex_replace(text_of(list), comment, ""), named)) return true;
  }
  return false;
}

}  // namespace redlock::layers
