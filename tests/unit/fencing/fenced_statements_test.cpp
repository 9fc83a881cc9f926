// Runs the SQL of docs/fencing.md unchanged in SQLite.
#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "support/catch.hpp"
#include "support/project_file.hpp"

namespace {

/// The SQL blocks of the document, in order.
std::vector<std::string> documented() {
  const std::string text = redlock::testing::read_project_file("docs/fencing.md");
  const std::string opening = "\n```sql\n";
  std::vector<std::string> blocks;
  for (auto at = text.find(opening); at != text.npos; at = text.find(opening, at + 1)) {
    const auto begin = at + opening.size();
    blocks.push_back(text.substr(begin, text.find("\n```\n", begin) - begin));
  }
  return blocks;
}

using Values = std::map<std::string, std::variant<std::int64_t, std::string>>;

/// A database in memory.
class Database {
 public:
  Database() {
    sqlite3* opened = nullptr;
    REQUIRE(sqlite3_open(":memory:", &opened) == SQLITE_OK);
    database_.reset(opened);
  }

  /// Executes all statements of a block, and returns how many rows they changed.
  int run(const std::string& block, const Values& values = {}) {
    const int before = sqlite3_total_changes(database_.get());
    for (const char* rest = block.c_str(); *rest != '\0';) {
      const Statement statement = prepare(rest, &rest);
      if (!statement) continue;  // a comment
      bind(*statement, values);
      INFO(sqlite3_sql(statement.get()));
      REQUIRE(sqlite3_step(statement.get()) == SQLITE_DONE);
    }
    return sqlite3_total_changes(database_.get()) - before;
  }
  /// The first column of the first row.
  std::string ask(const std::string& sql) {
    const Statement statement = prepare(sql.c_str(), nullptr);
    REQUIRE(sqlite3_step(statement.get()) == SQLITE_ROW);
    return reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), 0));
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  Statement prepare(const char* sql, const char** rest) {
    sqlite3_stmt* prepared = nullptr;
    INFO(sql);
    REQUIRE(sqlite3_prepare_v2(database_.get(), sql, -1, &prepared, rest) == SQLITE_OK);
    return Statement{prepared};
  }
  static void bind(sqlite3_stmt& statement, const Values& values) {
    for (int place = 1; place <= sqlite3_bind_parameter_count(&statement); ++place) {
      const auto& value = values.at(sqlite3_bind_parameter_name(&statement, place));
      if (const auto* const number = std::get_if<std::int64_t>(&value))
        sqlite3_bind_int64(&statement, place, *number);
      else
        sqlite3_bind_text(&statement, place, std::get<std::string>(value).c_str(), -1, SQLITE_TRANSIENT);
    }
  }

  struct Close {
    void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
  };
  std::unique_ptr<sqlite3, Close> database_;
};

struct Document {
  std::vector<std::string> blocks = documented();
  const std::string& create_invoices = blocks.at(0);
  const std::string& update = blocks.at(1);
  const std::string& insert_or_update = blocks.at(2);
  const std::string& create_fences = blocks.at(3);
  const std::string& transaction = blocks.at(4);
};

Values invoice(std::int64_t token, const std::string& state) {
  return {{":id", 42}, {":token", token}, {":state", state}};
}

const std::string state_and_token = "SELECT state || '/' || token FROM invoices WHERE id = 42";

}  // namespace

TEST_CASE("the_documented_update_refuses_a_smaller_token_and_a_missing_row") {
  const Document document;
  Database database;
  database.run(document.create_invoices);
  CHECK(database.run(document.update, invoice(34, "paid")) == 0);
  database.run("INSERT INTO invoices (id, state) VALUES (42, 'open')");
  CHECK(database.run(document.update, invoice(0, "without a token")) == 0);
  CHECK(database.run(document.update, invoice(9, "first")) == 1);
  CHECK(database.run(document.update, invoice(34, "paid")) == 1);
  CHECK(database.run(document.update, invoice(33, "late")) == 0);
  CHECK(database.run(document.update, invoice(9, "late")) == 0);
  CHECK(database.ask(state_and_token) == "paid/34");
  CHECK(database.run(document.update, invoice(34, "sent")) == 1);
  CHECK(database.ask(state_and_token) == "sent/34");
}

TEST_CASE("the_documented_insert_or_update_refuses_a_smaller_token") {
  const Document document;
  Database database;
  database.run(document.create_invoices);
  CHECK(database.run(document.insert_or_update, invoice(0, "without a token")) == 0);
  CHECK(database.run(document.insert_or_update, invoice(34, "paid")) == 1);
  CHECK(database.run(document.insert_or_update, invoice(33, "late")) == 0);
  CHECK(database.ask(state_and_token) == "paid/34");
  CHECK(database.run(document.insert_or_update, invoice(34, "sent")) == 1);
  CHECK(database.run(document.insert_or_update, invoice(9007199254740991, "last")) == 1);
  CHECK(database.run(document.insert_or_update, invoice(1000000000000000, "late")) == 0);
  CHECK(database.ask(state_and_token) == "last/9007199254740991");
}

TEST_CASE("the_documented_transaction_raises_the_fence_and_refuses_a_smaller_token") {
  const Document document;
  REQUIRE(document.blocks.size() == 5);
  Database database;
  database.run(document.create_fences);
  const auto shown = [&](std::int64_t token) {
    return database.run(document.transaction, {{":resource", "invoice/42"}, {":token", token}});
  };
  CHECK(shown(0) == 0);
  CHECK(shown(34) == 1);
  CHECK(shown(33) == 0);
  CHECK(shown(34) == 1);
  CHECK(shown(35) == 1);
  CHECK(database.ask("SELECT token FROM fences WHERE resource = 'invoice/42'") == "35");
}
