// docs/design.md and its picture, docs/house.svg, against the code.
#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "layers/rules.hpp"
#include "layers/source.hpp"
#include "support/catch.hpp"
#include "support/project_file.hpp"

using namespace redlock::layers;
using redlock::testing::project;
using redlock::testing::read_project_file;

namespace {

using Names = std::set<std::string>;

std::vector<std::smatch> matches(const std::string& text, const std::regex& pattern) {
  return {std::sregex_iterator{text.begin(), text.end(), pattern}, {}};
}

/// A picture of rooms: where each begins, and to which others arrows lead from it.
struct Picture {
  explicit Picture(const std::string& svg) {
    for (const auto& room : matches(svg, std::regex{R"re(data-room="([^"]+)" x="\d+" y="(\d+)")re"}))
      top[room[1]] = std::stoi(room[2]);
    for (const auto& arrow : matches(svg, std::regex{R"re(data-from="([^"]+)" data-to="([^"]+)")re"}))
      arrows[arrow[1]].insert(arrow[2]);
  }

  /// All rooms that arrows lead to from this one, also through others.
  Names reached_from(const std::string& room) const {
    Names all;
    const auto direct = arrows.find(room);
    if (direct == arrows.end()) return all;
    for (const std::string& next : direct->second) {
      all.insert(next);
      all.merge(reached_from(next));
    }
    return all;
  }

  std::map<std::string, int> top;
  std::map<std::string, Names> arrows;
};

std::string section(const std::string& page, const std::string& title) {
  const auto begin = page.find("\n## " + title + "\n");
  REQUIRE(begin != std::string::npos);
  return page.substr(begin, page.find("\n## ", begin + 1) - begin);
}

}  // namespace

TEST_CASE("the_picture_of_the_house_has_the_rooms_of_the_table") {
  const std::string svg = read_project_file("docs/house.svg");
  const Picture picture{svg};
  Names drawn;
  Names listed;
  for (const auto& [room, top] : picture.top) drawn.insert(room);
  for (const Room& room : house_rules().rooms) listed.insert(room.name);
  CHECK(drawn == listed);
}

TEST_CASE("every_arrow_of_the_picture_points_downwards") {
  const std::string svg = read_project_file("docs/house.svg");
  const Picture picture{svg};
  CHECK(picture.arrows.size() >= 15);
  for (const auto& [from, targets] : picture.arrows)
    for (const std::string& to : targets) {
      INFO(from << " to " << to);
      CHECK(picture.top.at(from) < picture.top.at(to));
    }
}

TEST_CASE("the_arrows_of_the_picture_are_those_of_the_table") {
  const std::string svg = read_project_file("docs/house.svg");
  const Picture picture{svg};
  for (const Room& room : house_rules().rooms) {
    INFO(room.name);
    const Names allowed{room.may_include.begin(), room.may_include.end()};
    const auto drawn = picture.arrows.find(room.name);
    if (drawn != picture.arrows.end())
      CHECK(std::includes(allowed.begin(), allowed.end(), drawn->second.begin(), drawn->second.end()));
    const Names reached = picture.reached_from(room.name);
    CHECK(std::includes(reached.begin(), reached.end(), allowed.begin(), allowed.end()));
  }
}

TEST_CASE("the_way_of_one_call_passes_each_file_once_and_every_file_exists") {
  const std::string way = section(read_project_file("docs/design.md"), "The way of one call");
  Names seen;
  int number = 0;
  for (const auto& row : matches(way, std::regex{R"(\n\| (\d+) \| `([^`]+)` \|)"})) {
    const std::string file = row[2];
    INFO(file);
    CHECK(std::stoi(row[1]) == ++number);
    CHECK(std::filesystem::is_regular_file(project / file));
    CHECK(seen.insert(file).second);
  }
  CHECK(number >= 12);
}

TEST_CASE("every_path_that_the_design_names_exists") {
  const std::string page = read_project_file("docs/design.md");
  for (const auto& path : matches(page, std::regex{R"(`((?:include|src|tests|docs)/[\w./-]+)`)"})) {
    INFO(path[1]);
    CHECK(std::filesystem::exists(project / path[1].str()));
  }
}
