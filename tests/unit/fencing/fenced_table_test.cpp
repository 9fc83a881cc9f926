// The table of the example, with the statements of docs/fencing.md, on a real database file.
#include "../../../examples/fencing/fenced_table.hpp"

#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "support/exception_message.hpp"
#include "support/temp_folder.hpp"

using redlock::FencingToken;
using redlock::testing::contains;
using redlock::testing::exception_message;

namespace {

constexpr FencingToken token(std::uint64_t value) { return FencingToken{value}; }
constexpr FencingToken greatest_of_all{9007199254740991};

/// The path of a database file that does not exist yet.
class DatabaseFile {
 public:
  [[nodiscard]] std::string path() const { return folder_.path() / "fenced.db"; }

 private:
  redlock::testing::TempFolder folder_;
};

}  // namespace

TEST_CASE("a_row_refuses_a_smaller_token_names_both_tokens_and_keeps_its_text") {
  const DatabaseFile file;
  FencedTable table{file.path()};
  table.write("invoice/42", "paid", token(34));
  CHECK_THROWS_AS(table.write("invoice/42", "open", token(33)), StaleToken);
  CHECK(exception_message([&] { table.write("invoice/42", "open", token(33)); }) ==
        "token 33 is smaller than 34, which was here before");
  CHECK(table.find("invoice/42") == "paid");
  table.write("invoice/42", "sent", token(34));
  CHECK(table.find("invoice/42") == "sent");
}

TEST_CASE("a_row_compares_tokens_as_numbers") {
  const DatabaseFile file;
  FencedTable table{file.path()};
  table.write("r", "nine", token(9));
  table.write("r", "ten", token(10));
  CHECK_THROWS_AS(table.write("r", "nine", token(9)), StaleToken);
  table.write("r", "10^15", token(1'000'000'000'000'000));
  table.write("r", "last", greatest_of_all);
  CHECK_THROWS_AS(table.write("r", "10^15", token(1'000'000'000'000'000)), StaleToken);
  CHECK(table.find("r") == "last");
}

TEST_CASE("rows_compare_tokens_independently_of_each_other") {
  const DatabaseFile file;
  FencedTable table{file.path()};
  table.write("a", "34", token(34));
  table.write("b", "33", token(33));
  CHECK(table.find("a") == "34");
  CHECK(table.find("b") == "33");
}

TEST_CASE("reading_a_row_shuts_out_earlier_holders_whether_or_not_it_has_a_value") {
  const DatabaseFile file;
  FencedTable table{file.path()};
  CHECK_FALSE(table.read("r", token(34)));
  CHECK_THROWS_AS(table.write("r", "late", token(33)), StaleToken);
  CHECK_THROWS_AS(table.read("r", token(33)), StaleToken);
  CHECK_FALSE(table.find("r"));
  table.write("r", "", token(34));
  CHECK(table.read("r", token(35)) == "");
  CHECK_THROWS_AS(table.write("r", "late", token(34)), StaleToken);
  CHECK(table.find("r") == "");
}

TEST_CASE("a_row_refuses_an_invalid_token_and_changes_nothing") {
  const DatabaseFile file;
  FencedTable table{file.path()};
  for (const std::uint64_t none : {0ull, 9007199254740992ull, ~0ull}) {
    CAPTURE(none);
    CHECK_THAT(exception_message([&] { table.write("new", "x", token(none)); }),
               contains("CHECK constraint failed"));
    CHECK_THAT(exception_message([&] { (void)table.read("new", token(none)); }),
               contains("CHECK constraint failed"));
    CHECK_FALSE(table.find("new"));
  }
  table.write("new", "x", token(1));
}

TEST_CASE("a_database_file_keeps_tokens_across_connections_and_reopening") {
  const DatabaseFile file;
  FencedTable here{file.path()};
  {
    FencedTable there{file.path()};
    CHECK_FALSE(there.read("r", token(34)));
    there.write("r", "theirs", token(34));
  }
  CHECK_THROWS_AS(here.write("r", "late", token(33)), StaleToken);
  CHECK(here.read("r", token(35)) == "theirs");
  FencedTable again{file.path()};
  CHECK_THROWS_AS(again.write("r", "late", token(34)), StaleToken);
}

TEST_CASE("a_database_file_that_cannot_be_opened_is_refused") {
  CHECK_THAT(exception_message([] { FencedTable{"/no/such/folder/fenced.db"}; }),
             contains("unable to open database file"));
}
