// The invoices in an SQLite database. The ledger refuses what a holder with an old fencing token writes.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <redlock/fencing_token.hpp>
#include <stdexcept>
#include <string>
#include <vector>

/// The tables `invoice` and `payment` of a database file, which many processes may use. Each call is one transaction; a
/// process that is killed in one leaves nothing of it. Blocks up to ten seconds for other writers. Throws
/// `std::runtime_error` if SQLite fails. Not thread-safe.
class Ledger {
 public:
  explicit Ledger(const std::string& path) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open(path.c_str(), &opened);
    database_.reset(opened);
    check(code == SQLITE_OK && sqlite3_busy_timeout(opened, 10'000) == SQLITE_OK);
  }

  /// Creates the tables and invoices 1 to `count`.
  void create(int count) {
    run("CREATE TABLE invoice (number INTEGER PRIMARY KEY, token INTEGER NOT NULL DEFAULT 0,"
        " is_paid INTEGER NOT NULL DEFAULT 0)");
    run("CREATE TABLE payment (invoice INTEGER NOT NULL, token INTEGER NOT NULL)");
    for (int number = 1; number <= count; ++number) run("INSERT INTO invoice (number) VALUES (?1)", {number});
  }

  [[nodiscard]] std::vector<int> unpaid() {
    std::vector<int> numbers;
    for (const std::int64_t number : run("SELECT number FROM invoice WHERE is_paid = 0"))
      numbers.push_back(static_cast<int>(number));
    return numbers;
  }

  /// Keeps earlier holders of this invoice's lock from writing. Returns true if the invoice is still to be paid and
  /// nobody with a greater token has begun.
  bool begin(int number, redlock::FencingToken token) {
    return !run("UPDATE invoice SET token = ?2 WHERE number = ?1 AND is_paid = 0 AND token < ?2 RETURNING "
                "number",
                {number, value_of(token)})
                .empty();
  }

  /// Books the payment. Returns false, and books nothing, if another holder has begun since.
  bool pay(int number, redlock::FencingToken token) {
    run("BEGIN IMMEDIATE");
    const bool is_ours = !run("UPDATE invoice SET is_paid = 1 WHERE number = ?1 AND token = ?2"
                              " RETURNING number",
                              {number, value_of(token)})
                              .empty();
    if (is_ours) run("INSERT INTO payment VALUES (?1, ?2)", {number, value_of(token)});
    run("COMMIT");
    return is_ours;
  }

  /// How many payments each invoice has, in the order of their numbers.
  [[nodiscard]] std::vector<std::int64_t> payments() {
    return run("SELECT (SELECT count(*) FROM payment WHERE invoice = number) FROM invoice ORDER BY number");
  }

 private:
  /// Executes a statement to its end, and returns its first column.
  std::vector<std::int64_t> run(const char* sql, const std::vector<std::int64_t>& arguments = {}) {
    sqlite3_stmt* prepared = nullptr;
    check(sqlite3_prepare_v2(database_.get(), sql, -1, &prepared, nullptr) == SQLITE_OK);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement{prepared, sqlite3_finalize};
    for (std::size_t place = 0; place < arguments.size(); ++place)
      check(sqlite3_bind_int64(prepared, static_cast<int>(place) + 1, arguments[place]) == SQLITE_OK);
    std::vector<std::int64_t> column;
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(prepared)) == SQLITE_ROW) column.push_back(sqlite3_column_int64(prepared, 0));
    check(code == SQLITE_DONE);
    return column;
  }

  void check(bool succeeded) const {
    if (!succeeded) throw std::runtime_error{std::string{"SQLite: "} + sqlite3_errmsg(database_.get())};
  }

  static std::int64_t value_of(redlock::FencingToken token) {
    return static_cast<std::int64_t>(token.value());
  }

  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_{nullptr, sqlite3_close};
};
