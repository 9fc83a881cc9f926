// Accounts in an SQLite database, each with a version that every write compares.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct Account {
  std::int64_t balance = 0;
  std::int64_t version = 0;
};

/// The table `account` of a database file, which many processes may use. Throws `std::runtime_error` if SQLite fails. Blocks up
/// to ten seconds for other writers. Not thread-safe.
class Accounts {
 public:
  explicit Accounts(const std::string& path) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open(path.c_str(), &opened);
    database_.reset(opened);
    check(code == SQLITE_OK && sqlite3_busy_timeout(opened, 10'000) == SQLITE_OK);
    run("CREATE TABLE IF NOT EXISTS account"
        " (number INTEGER PRIMARY KEY, balance INTEGER NOT NULL, version INTEGER NOT NULL)");
  }

  void open(std::int64_t number, std::int64_t balance) {
    run("INSERT INTO account VALUES (?1, ?2, 1)", {number, balance});
  }
  [[nodiscard]] Account read(std::int64_t number) {
    const auto row = run("SELECT balance, version FROM account WHERE number = ?1", {number});
    if (!row) throw std::runtime_error{"no such account"};
    return *row;
  }
  /// Returns false, and writes nothing, if somebody has written since `read` was read. The statement both compares and writes, so
  /// nobody can come in between.
  [[nodiscard]] bool write(std::int64_t number, std::int64_t balance, const Account& read) {
    run("UPDATE account SET balance = ?2, version = version + 1 WHERE number = ?1 AND version = ?3",
        {number, balance, read.version});
    return sqlite3_changes(database_.get()) == 1;
  }
  /// Whatever others have written meanwhile.
  void write_blindly(std::int64_t number, std::int64_t balance) {
    run("UPDATE account SET balance = ?2, version = version + 1 WHERE number = ?1", {number, balance});
  }

 private:
  /// Executes a statement to its end, and returns its row, if it has one.
  std::optional<Account> run(const char* sql, const std::vector<std::int64_t>& arguments = {}) {
    sqlite3_stmt* prepared = nullptr;
    check(sqlite3_prepare_v2(database_.get(), sql, -1, &prepared, nullptr) == SQLITE_OK);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement{prepared, sqlite3_finalize};
    for (std::size_t place = 0; place < arguments.size(); ++place)
      check(sqlite3_bind_int64(prepared, static_cast<int>(place) + 1, arguments[place]) == SQLITE_OK);
    std::optional<Account> row;
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(prepared)) == SQLITE_ROW)
      row = {sqlite3_column_int64(prepared, 0), sqlite3_column_int64(prepared, 1)};
    check(code == SQLITE_DONE);
    return row;
  }

  void check(bool succeeded) const {
    if (!succeeded) throw std::runtime_error{std::string{"SQLite: "} + sqlite3_errmsg(database_.get())};
  }

  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_{nullptr, sqlite3_close};
};
