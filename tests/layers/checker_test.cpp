// Each rule is broken on purpose in a tree made up for it, and the checker finds that and nothing else.
#include "layers/checker.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/temp_folder.hpp"

using namespace redlock::layers;
using Violations = std::vector<Violation>;

namespace {

/// A tree of two layers and a core that keeps every rule.
class Tree {
 public:
  Tree() {
    write("CMakeLists.txt", "add_library(it\n  src/low/low.cpp\n  src/high/high.cpp\n)\n");
    write("include/core/core.hpp", "#include <chrono>\n#include <string>\n");
    write("src/low/low.hpp", "#include \"core/core.hpp\"\n#include <unistd.h>\n");
    write("src/low/low.cpp", "#include \"low/low.hpp\"\n#include <net/net.h>\n");
    write("src/high/high.hpp", "#include \"low/low.hpp\"\n#include <thread>\n");
    write("src/high/high.cpp", "#include \"high/high.hpp\"\n\nvoid one() { two(); }\n");
  }

  void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }

  Violations violations() const {
    const Checker checker{folder_.path(), rules};
    Violations all = checker.table();
    for (const Violations& some : {checker.includes(), checker.sizes(), checker.build()})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }

  Rules rules{
      .rooms = {{"core", {"include/core"}, {}},
                {"low", {"src/low"}, {"core"}},
                {"high", {"src/high"}, {"low"}}},
      .reserved = {{"net/", {"src/low"}}},
      .pure = "include/core",
      .impure = {"thread"},
      .roots = {"include", "src", "tests"},
      .product = {"include", "src"},
      .include_directories = {"include", "src"},
      .folder_files = 3,
      .header_lines = 10,
      .function_lines = 4,
  };

 private:
  redlock::testing::TempFolder folder_;
};

std::string lines(int count) {
  std::string text;
  for (int line = 0; line < count; ++line) text += "\n";
  return text;
}

}  // namespace

TEST_CASE("a_tree_that_keeps_all_rules_has_no_violation") { CHECK(Tree{}.violations() == Violations{}); }

TEST_CASE("an_include_that_points_upwards_is_found") {
  const Tree tree;
  tree.write("src/low/low.cpp", "#include \"low/low.hpp\"\n\n  #  include  \"high/high.hpp\"  // why not\n");
  CHECK(tree.violations() ==
        Violations{{"src/low/low.cpp:3", "low may not include high (src/high/high.hpp)"}});
}

TEST_CASE("an_include_that_points_downwards_but_is_not_in_the_table_is_found") {
  const Tree tree;
  tree.write("src/high/high.hpp", "#include <core/core.hpp>\n");
  CHECK(tree.violations() ==
        Violations{{"src/high/high.hpp:1", "high may not include core (include/core/core.hpp)"}});
}

TEST_CASE("an_arrow_of_the_table_that_points_upwards_is_found") {
  Tree tree;
  tree.rules.rooms[1].may_include.push_back("high");
  CHECK(tree.violations() == Violations{{"low", "may include high, which is not below it"}});
}

TEST_CASE("a_place_of_the_table_that_does_not_exist_is_found") {
  Tree tree;
  tree.rules.rooms[1].places.push_back("src/cellar");
  CHECK(tree.violations() == Violations{{"low", "src/cellar does not exist"}});
}

TEST_CASE("a_folder_without_a_room_is_found") {
  const Tree tree;
  tree.write("src/attic/old.hpp", "#include \"high/high.hpp\"\n");
  CHECK(tree.violations() == Violations{{"src/attic/old.hpp", "is in no room of the table"}});
}

TEST_CASE("a_file_may_stand_on_another_layer_than_its_folder") {
  Tree tree;
  tree.rules.rooms.insert(tree.rules.rooms.begin() + 1, {"value", {"src/high/value.hpp"}, {"core"}});
  tree.rules.rooms[2].may_include.push_back("value");
  tree.write("src/high/value.hpp", "#include \"core/core.hpp\"\n");
  tree.write("src/low/low.hpp", "#include \"high/value.hpp\"\n");
  CHECK(tree.violations() == Violations{});
  tree.write("src/high/value.hpp", "#include \"high/high.hpp\"\n");
  CHECK(tree.violations() ==
        Violations{{"src/high/value.hpp:1", "value may not include high (src/high/high.hpp)"}});
}

TEST_CASE("an_include_of_a_file_that_does_not_exist_is_found") {
  const Tree tree;
  tree.write("src/high/high.hpp", "#include \"low.hpp\"\n");
  CHECK(tree.violations() == Violations{{"src/high/high.hpp:1", "includes low.hpp, which does not exist"}});
}

TEST_CASE("a_reserved_header_in_another_folder_is_found") {
  const Tree tree;
  tree.write("src/high/high.cpp", "#include <net/net.h>\n");
  CHECK(tree.violations() == Violations{{"src/high/high.cpp:1", "may not include <net/net.h>"}});
}

TEST_CASE("a_system_header_in_the_core_is_found") {
  const Tree tree;
  for (const std::string header : {"thread", "unistd.h", "sys/socket.h"}) {
    tree.write("include/core/core.hpp", "#include <string>\n#include <" + header + ">\n");
    CHECK(tree.violations() ==
          Violations{{"include/core/core.hpp:2", "does no I/O, and may not include <" + header + ">"}});
  }
}

TEST_CASE("a_folder_with_too_many_files_is_found") {
  const Tree tree;
  tree.write("tests/one.cpp", "");
  tree.write("tests/two.cpp", "");
  tree.write("tests/three.hpp", "");
  tree.write("tests/part/four.cpp", "");
  tree.write("tests/five.txt", "");
  CHECK(tree.violations() == Violations{});
  tree.write("tests/four.cpp", "");
  CHECK(tree.violations() == Violations{{"tests", "4 files, at most 3 allowed"}});
}

TEST_CASE("a_header_with_too_many_lines_is_found") {
  const Tree tree;
  tree.write("src/high/high.hpp", lines(10));
  tree.write("src/high/high.cpp", lines(11));
  CHECK(tree.violations() == Violations{});
  tree.write("src/high/high.hpp", lines(11));
  CHECK(tree.violations() == Violations{{"src/high/high.hpp", "11 lines, at most 10 allowed"}});
}

TEST_CASE("a_function_with_too_many_lines_is_found") {
  const Tree tree;
  tree.write("src/high/high.cpp", "namespace n {\n\nint one() {\n\n  // two\n}\n\n}\n");
  CHECK(tree.violations() == Violations{});
  tree.write("src/high/high.cpp", "namespace n {\n\nint one() {\n\n\n  // two\n}\n\n}\n");
  CHECK(tree.violations() == Violations{{"src/high/high.cpp:3", "int one(): 5 lines, at most 4 allowed"}});
}

TEST_CASE("a_file_whose_braces_do_not_match_is_found") {
  const Tree tree;
  tree.write("src/high/high.cpp", "void one() {\n");
  CHECK(tree.violations() == Violations{{"src/high/high.cpp", "an opening brace without a closing one"}});
}

TEST_CASE("a_source_file_that_is_not_built_is_found") {
  const Tree tree;
  tree.write("src/high/forgotten.cpp", "");
  const Violations forgotten{{"src/high/forgotten.cpp", "is in no CMakeLists.txt"}};
  CHECK(tree.violations() == forgotten);
  tree.write("src/high/CMakeLists.txt", "# forgotten.cpp\nadd_library(it unforgotten.cpp)\n");
  CHECK(tree.violations() == forgotten);
  tree.write("src/high/CMakeLists.txt", "add_library(it forgotten.cpp)\n");
  CHECK(tree.violations() == Violations{});
}
