#include "chaos/worker/stores.hpp"

#include <stdexcept>

namespace redlock::chaos {
namespace {

constexpr const char* key = "balance";

/// Counts the writes that overwrite one that their writer has not seen.
std::string counting_trigger(const std::string& table) {
  return "CREATE TRIGGER IF NOT EXISTS " + table + "_loses AFTER UPDATE OF value ON " + table +
         " WHEN CAST(new.value AS INTEGER) != COALESCE(CAST(old.value AS INTEGER), 0) + 1"
         " BEGIN UPDATE lost SET " +
         table + " = " + table + " + 1; END;";
}

}  // namespace

SharedStores::SharedStores(const std::string& path) : table_{path} {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(path.c_str(), &opened);
  database_.reset(opened);
  if (code != SQLITE_OK) throw std::runtime_error{path + " cannot be opened"};
  sqlite3_busy_timeout(opened, 10'000);
  // No power fails here, so nothing need reach the disk.
  run("PRAGMA synchronous = OFF");
  run("BEGIN IMMEDIATE;"
      "CREATE TABLE IF NOT EXISTS unfenced (value INTEGER NOT NULL);"
      "INSERT INTO unfenced SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM unfenced);"
      "CREATE TABLE IF NOT EXISTS written (unfenced INTEGER NOT NULL);"
      "INSERT INTO written SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM written);"
      "CREATE TRIGGER IF NOT EXISTS unfenced_writes AFTER UPDATE ON unfenced"
      " BEGIN UPDATE written SET unfenced = unfenced + 1; END;"
      "CREATE TABLE IF NOT EXISTS lost (fenced INTEGER NOT NULL, unfenced INTEGER NOT NULL);"
      "INSERT INTO lost SELECT 0, 0 WHERE NOT EXISTS (SELECT 1 FROM lost);" +
      counting_trigger("fenced") + counting_trigger("unfenced") + "COMMIT");
}

SharedStores::Seen SharedStores::read(FencingToken token) {
  const std::int64_t unfenced = number("SELECT value FROM unfenced");
  return {token ? std::stoll(table_.read(key, token).value_or("0")) : 0, unfenced};
}

void SharedStores::write_unfenced(const Seen& seen) {
  run("UPDATE unfenced SET value = " + std::to_string(seen.unfenced + 1));
}

bool SharedStores::write_unfenced_before(Clock::time_point latest, const Seen& seen) {
  run("BEGIN EXCLUSIVE");  // also waits for readers, for whom the commit would have to wait
  const bool is_in_time = Clock::now() < latest;
  if (is_in_time) write_unfenced(seen);
  run("COMMIT");
  return is_in_time;
}

void SharedStores::write_fenced(FencingToken token, const Seen& seen) {
  table_.write(key, std::to_string(seen.fenced + 1), token);
}

std::int64_t SharedStores::written_fenced() { return std::stoll(table_.find(key).value_or("0")); }

void SharedStores::run(const std::string& statement) {
  char* said = nullptr;
  if (sqlite3_exec(database_.get(), statement.c_str(), nullptr, nullptr, &said) == SQLITE_OK) return;
  const std::string why{said ? said : "?"};
  sqlite3_free(said);
  sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  throw std::runtime_error{"SQLite: " + why};
}

std::int64_t SharedStores::number(const char* query) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), query, -1, &statement, nullptr) != SQLITE_OK)
    throw std::runtime_error{std::string{"SQLite: "} + sqlite3_errmsg(database_.get())};
  const bool has_row = sqlite3_step(statement) == SQLITE_ROW;
  const std::int64_t found = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  if (!has_row) throw std::runtime_error{std::string{"SQLite: "} + sqlite3_errmsg(database_.get())};
  return found;
}

}  // namespace redlock::chaos
