// The documents name the codes and statuses that exist, and the page of outcomes explains all of them.
#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/status.hpp"
#include "support/catch.hpp"
#include "support/project_file.hpp"

namespace {

using redlock::NodeStatus;
using redlock::testing::project;
using redlock::testing::read_project_file;

using Names = std::set<std::string>;

/// The enumerators of each enumeration in a header.
std::map<std::string, Names> enumerations_in(const std::filesystem::path& header) {
  const std::string text = std::regex_replace(read_project_file(header), std::regex{"//[^\n]*"}, "");
  const std::regex enumeration{R"(enum class (\w+)[^{;]*\{([^}]*)\})"};
  const std::regex name{R"([a-z_]+)"};
  std::map<std::string, Names> all;
  for (std::sregex_iterator at{text.begin(), text.end(), enumeration}, end; at != end; ++at) {
    const std::string body = (*at)[2];
    for (std::sregex_iterator each{body.begin(), body.end(), name}; each != end; ++each)
      all[(*at)[1]].insert(each->str());
  }
  return all;
}

/// What users read. Paths relative to the root of the checkout.
std::vector<std::filesystem::path> public_headers() {
  std::vector<std::filesystem::path> headers;
  for (const auto& file : std::filesystem::recursive_directory_iterator{project / "include/redlock"})
    if (file.path().extension() == ".hpp" && file.path().string().find("/core/") == std::string::npos)
      headers.push_back(file.path().lexically_relative(project));
  return headers;
}

std::vector<std::filesystem::path> documents() {
  std::vector<std::filesystem::path> pages{"README.md", "CHANGELOG.md"};
  for (const auto& file : std::filesystem::recursive_directory_iterator{project / "docs"})
    if (file.path().extension() == ".md") pages.push_back(file.path().lexically_relative(project));
  return pages;
}

std::map<std::string, Names> public_enumerations() {
  std::map<std::string, Names> all;
  for (const auto& header : public_headers()) all.merge(enumerations_in(header));
  return all;
}

std::string with_underscores(std::string_view name) {
  std::string text{name};
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

/// The first column of the tables of the page, with the rest of each row.
std::map<std::string, std::string> rows_of(const std::string& page) {
  std::map<std::string, std::string> rows;
  const std::regex row{R"(\n\| `([a-z_]+)` \|([^\n]*))"};
  for (std::sregex_iterator at{page.begin(), page.end(), row}, end; at != end; ++at)
    rows[(*at)[1]] += (*at)[2];
  return rows;
}

}  // namespace

TEST_CASE("the_page_of_outcomes_explains_every_code_and_every_status_and_no_others") {
  const auto rows = rows_of(read_project_file("docs/errors.md"));
  const auto enumerations = public_enumerations();
  Names wanted = enumerations.at("Errc");
  for (const std::string& status : enumerations.at("NodeStatus")) wanted.insert(status);
  CHECK(wanted.size() >= 30);
  Names explained;
  for (const auto& [name, row] : rows) explained.insert(name);
  CHECK(explained == wanted);
}

TEST_CASE("the_page_of_outcomes_says_which_statuses_are_misconfigurations") {
  auto rows = rows_of(read_project_file("docs/errors.md"));
  for (int number = 0; to_string(static_cast<NodeStatus>(number)) != "unknown status"; ++number) {
    const auto status = static_cast<NodeStatus>(number);
    const std::string name = with_underscores(to_string(status));
    CAPTURE(name);
    CHECK((rows[name].find("*Misconfigured.*") != std::string::npos) == is_misconfiguration(status));
  }
}

TEST_CASE("every_enumerator_that_a_document_or_a_header_names_exists") {
  const auto enumerations = public_enumerations();
  const std::regex use{R"(\b(\w+)::([a-z_]+)\b)"};
  int uses = 0;
  std::vector<std::filesystem::path> files = documents();
  for (const auto& header : public_headers()) files.push_back(header);
  for (const auto& file : files) {
    const std::string text = read_project_file(file);
    for (std::sregex_iterator at{text.begin(), text.end(), use}, end; at != end; ++at) {
      const auto enumeration = enumerations.find((*at)[1]);
      if (enumeration == enumerations.end()) continue;
      CAPTURE(file.string(), at->str());
      CHECK(enumeration->second.contains((*at)[2]));
      ++uses;
    }
  }
  CHECK(uses >= 50);
}
