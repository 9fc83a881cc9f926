// Texts in an SQLite database, each guarded by the greatest fencing token presented so far. To use it, copy it and adapt its
// two statements to your tables. docs/fencing.md has statements for a table with other columns.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <redlock/fencing_token.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

/// Thrown to a holder that lost its lock: another holder has presented a greater token.
class StaleToken : public std::runtime_error {
 public:
  StaleToken(redlock::FencingToken refused, redlock::FencingToken greatest)
      : std::runtime_error{"token " + std::to_string(refused.value()) + " is smaller than " +
                           std::to_string(greatest.value()) + ", which was here before"},
        refused_{refused},
        greatest_{greatest} {}

  [[nodiscard]] redlock::FencingToken refused() const noexcept { return refused_; }
  [[nodiscard]] redlock::FencingToken greatest() const noexcept { return greatest_; }

 private:
  redlock::FencingToken refused_;
  redlock::FencingToken greatest_;
};

/// The table `fenced` of a database file. Creates the table if it does not exist. Many processes may use one file.
///
/// A call throws `StaleToken` if a greater token was presented before, and `std::runtime_error` if SQLite fails or the token
/// is none (0); then nothing has changed. One statement both compares and writes, so no pause can come in between. Not
/// thread-safe. Blocks up to ten seconds for other writers. There is one mark for reads and writes: readers of a shared lock,
/// whose tokens may differ, may be refused although they hold it.
class FencedTable {
 public:
  explicit FencedTable(const std::string& path) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open(path.c_str(), &opened);
    database_.reset(opened);
    check(code);
    check(sqlite3_busy_timeout(opened, 10'000));
    Statement{*this,
              "CREATE TABLE IF NOT EXISTS fenced (key TEXT PRIMARY KEY, value TEXT,"
              " token INTEGER NOT NULL CHECK (token BETWEEN 1 AND 9007199254740991))"}
        .next();
  }

  /// Returns the current value. For callers that hold no lock and will not write.
  [[nodiscard]] std::optional<std::string> find(std::string_view key) {
    Statement select{*this, "SELECT value FROM fenced WHERE key = ?1"};
    select.bind(1, key);
    return select.next() ? select.text() : std::nullopt;
  }

  /// Returns the value, if there is one. From then on, earlier holders cannot write it.
  [[nodiscard]] std::optional<std::string> read(std::string_view key, redlock::FencingToken token) {
    Statement claim{
        *this,
        "INSERT INTO fenced (key, token) VALUES (?1, ?2)"
        " ON CONFLICT (key) DO UPDATE SET token = excluded.token WHERE excluded.token >= fenced.token"
        " RETURNING value"};
    claim.bind(1, key);
    claim.bind(2, token);
    if (!claim.next()) throw StaleToken{token, greatest(key)};
    std::optional<std::string> value = claim.text();
    claim.next();  // completes the statement, which commits it
    return value;
  }

  void write(std::string_view key, std::string_view value, redlock::FencingToken token) {
    Statement upsert{*this,
                     "INSERT INTO fenced (key, token, value) VALUES (?1, ?2, ?3)"
                     " ON CONFLICT (key) DO UPDATE SET token = excluded.token, value = excluded.value"
                     " WHERE excluded.token >= fenced.token"};
    upsert.bind(1, key);
    upsert.bind(2, token);
    upsert.bind(3, value);
    upsert.next();
    if (sqlite3_changes(database_.get()) == 0) throw StaleToken{token, greatest(key)};
  }

 private:
  class Statement {
   public:
    Statement(FencedTable& table, std::string_view sql) : table_{table} {
      sqlite3_stmt* prepared = nullptr;
      table_.check(sqlite3_prepare_v2(table_.database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &prepared, nullptr));
      prepared_.reset(prepared);
    }

    void bind(int place, std::string_view text) {
      table_.check(sqlite3_bind_text64(prepared_.get(), place, text.empty() ? "" : text.data(), text.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8));
    }
    void bind(int place, redlock::FencingToken token) {
      table_.check(sqlite3_bind_int64(prepared_.get(), place, static_cast<std::int64_t>(token.value())));
    }

    /// Returns true if there is a row.
    bool next() {
      const int code = sqlite3_step(prepared_.get());
      if (code != SQLITE_DONE && code != SQLITE_ROW) table_.check(code);
      return code == SQLITE_ROW;
    }
    /// Returns the row's first column, or nullopt if it is NULL.
    [[nodiscard]] std::optional<std::string> text() {
      const unsigned char* const bytes = sqlite3_column_text(prepared_.get(), 0);
      if (bytes == nullptr) return std::nullopt;
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(prepared_.get(), 0));
      return std::string{bytes, bytes + size};
    }
    [[nodiscard]] redlock::FencingToken token() {
      return redlock::FencingToken{static_cast<std::uint64_t>(sqlite3_column_int64(prepared_.get(), 0))};
    }

   private:
    struct Finalize {
      void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
    };
    FencedTable& table_;
    std::unique_ptr<sqlite3_stmt, Finalize> prepared_;
  };

  struct Close {
    void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
  };

  /// Only for the message of a refusal: the token may have grown since.
  [[nodiscard]] redlock::FencingToken greatest(std::string_view key) {
    Statement select{*this, "SELECT token FROM fenced WHERE key = ?1"};
    select.bind(1, key);
    select.next();
    return select.token();
  }

  void check(int code) const {
    if (code != SQLITE_OK)
      throw std::runtime_error{std::string{"SQLite: "} + sqlite3_errmsg(database_.get())};
  }

  std::unique_ptr<sqlite3, Close> database_;
};
