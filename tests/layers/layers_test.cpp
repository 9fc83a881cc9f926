// The rules of the layers, as the source tree keeps them today.
#include <filesystem>
#include <string>

#include "layers/checker.hpp"
#include "layers/source.hpp"
#include "support/catch.hpp"
#include "support/project_file.hpp"

using namespace redlock::layers;
using redlock::testing::project;
using Violations = std::vector<Violation>;

namespace {

const Checker checker{project, house_rules()};

}  // namespace

TEST_CASE("every_arrow_of_the_table_points_downwards") { CHECK(checker.table() == Violations{}); }

TEST_CASE("every_file_includes_only_what_stands_below_it") { CHECK(checker.includes() == Violations{}); }

TEST_CASE("no_folder_no_header_and_no_function_is_too_large") { CHECK(checker.sizes() == Violations{}); }

TEST_CASE("every_source_file_is_built") { CHECK(checker.build() == Violations{}); }

TEST_CASE("the_scan_finds_functions_in_every_source_file") {
  for (const auto& entry : std::filesystem::recursive_directory_iterator{project / "src"}) {
    INFO(entry.path());
    if (entry.path().extension() == ".cpp") CHECK_FALSE(functions_of(text_of(entry.path())).empty());
  }
}
