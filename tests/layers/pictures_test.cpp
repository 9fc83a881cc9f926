// The pictures of the documentation.
#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "layers/source.hpp"
#include "support/catch.hpp"
#include "support/project_file.hpp"

using namespace redlock::layers;
using redlock::testing::project;

namespace {

/// Every `fill="#..."` and `stroke="#..."` that a pattern finds in a picture.
std::set<std::string> colours_in(const std::string& picture, const std::regex& pattern) {
  std::set<std::string> colours;
  for (std::sregex_iterator at{picture.begin(), picture.end(), pattern}, end; at != end; ++at)
    colours.insert((*at)[1]);
  return colours;
}

}  // namespace

TEST_CASE("every_colour_of_every_picture_has_one_for_dark_mode") {
  const std::regex used{R"re(\s((?:fill|stroke)="#[0-9a-f]+"))re"};
  const std::regex mapped{R"re(\[((?:fill|stroke)="#[0-9a-f]+")\]\{(?:fill|stroke):#[0-9a-f]{6}\})re"};
  int pictures = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{project / "docs"}) {
    if (entry.path().extension() != ".svg") continue;
    INFO(entry.path());
    const std::string picture = text_of(entry.path());
    const auto begin = picture.find("@media (prefers-color-scheme: dark) {");
    const auto end = picture.find("</style>");
    ++pictures;
    REQUIRE(begin != std::string::npos);
    REQUIRE(begin < end);
    std::set<std::string> light = colours_in(picture, used);
    for (const std::string& colour : colours_in(picture.substr(begin, end - begin), mapped))
      light.erase(colour);
    CHECK(light == std::set<std::string>{});
  }
  CHECK(pictures >= 11);
}
