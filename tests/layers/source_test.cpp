// What the checker reads out of C++ code.
#include "layers/source.hpp"

#include <algorithm>
#include <string>

#include "support/catch.hpp"

using namespace redlock::layers;

namespace {

/// "signature @ line + lines" of every function.
std::vector<std::string> found_in(const std::string& text) {
  std::vector<std::string> all;
  for (const Function& function : functions_of(text))
    all.push_back(function.signature + " @ " + std::to_string(function.line) + " + " +
                  std::to_string(function.lines));
  return all;
}
using Found = std::vector<std::string>;

}  // namespace

TEST_CASE("functions_of_namespaces_and_types_are_found_with_all_their_lines") {
  CHECK(found_in(R"(namespace a::b {
struct Outer : Base<int> {
  int number() const noexcept { return n; }

 private:
  enum class Kind { one, two };
  template <class T>
  void call(T t,
            int u) {
    if (u) {
      t();
    }
  }
  int n{0};
  std::vector<int> list = {1, 2};
};
class [[nodiscard]] REDLOCK_EXPORT Other { Other() {} };
extern "C" {
auto last() -> int {
}
}
}
)") == Found{"int number() const noexcept @ 3 + 1", "template <class T> void call(T t, int u) @ 7 + 7",
             "Other() @ 17 + 1", "auto last() -> int @ 19 + 2"});
}

TEST_CASE("member_initializers_belong_to_their_constructor") {
  CHECK(
      found_in("A::A(int n)\n    : n_{n},\n      f_{[] { return 1; }} {\n}\nint x{f({1})};\nvoid g() {}\n") ==
      Found{"A::A(int n) : n_{n}, f_{[] { return 1; }} @ 1 + 4", "void g() @ 6 + 1"});
}

TEST_CASE("braces_in_comments_literals_and_preprocessor_lines_are_none") {
  CHECK(found_in("// {\n/* {\n{ */\n#define OPEN \\\n  {\nvoid f() {\n  g(\"}\\\"}\", '}', '\\'', R\"x(})\" "
                 "})x\", 1'000);\n"
                 "  // }\n}\nvoid h() {\n}\n") == Found{"void f() @ 6 + 4", "void h() @ 10 + 2"});
}

TEST_CASE("a_lambda_counts_to_the_function_around_it") {
  CHECK(found_in("void f() {\n  auto g = [] {\n  };\n  struct Local {\n    void h() {\n    }\n  };\n}\n") ==
        Found{"void f() @ 1 + 8"});
}

TEST_CASE("braces_that_do_not_match_are_refused") {
  CHECK_THROWS(functions_of("void f() {\n"));
  CHECK_THROWS(functions_of("}\n"));
}

TEST_CASE("includes_are_found_with_their_lines") {
  const auto includes =
      includes_of("#pragma once\n#include <a/b.h>\n\n  # include \"c.hpp\"  // d\n// #include <e>\n");
  REQUIRE(includes.size() == 2);
  CHECK(includes[0].name == "a/b.h");
  CHECK_FALSE(includes[0].is_quoted);
  CHECK(includes[0].line == 2);
  CHECK(includes[1].name == "c.hpp");
  CHECK(includes[1].is_quoted);
  CHECK(includes[1].line == 4);
}
