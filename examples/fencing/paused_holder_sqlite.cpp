// A holder that was paused past its deadline damages a row in an SQLite database. Then statements that compare fencing
// tokens guard the row. The environment names the lock's nodes.
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "fenced_table.hpp"
#include "paused_holder.hpp"

namespace {

/// Runs `call` and translates StaleToken to `paused_holder::Refused`.
template <class Call>
auto refusing(Call call) try {
  return call();
} catch (const StaleToken& stale) {
  throw paused_holder::Refused{stale.what()};
}

class SqliteBalance {
 public:
  explicit SqliteBalance(const std::string& path) : path_{path}, table_{path} {}

  int read() { return std::stoi(table_.find(key).value()); }
  /// Writes without comparing tokens.
  void write(int balance) {
    execute("INSERT INTO fenced VALUES ('" + key + "', '" + std::to_string(balance) +
            "', 1) ON CONFLICT DO UPDATE SET value = excluded.value");
  }

  int read(redlock::FencingToken token) {
    return refusing([&] { return std::stoi(table_.read(key, token).value()); });
  }
  void write(int balance, redlock::FencingToken token) {
    refusing([&] { table_.write(key, std::to_string(balance), token); });
  }

 private:
  void execute(const std::string& sql) const {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open(path_.c_str(), &opened);
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database{opened, sqlite3_close};
    if (code != SQLITE_OK || sqlite3_exec(opened, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      throw std::runtime_error{sqlite3_errmsg(opened)};
  }

  const std::string key = "balance/alice";
  std::string path_;
  FencedTable table_;
};

/// A temporary folder, deleted with its contents by the destructor.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error{"cannot create " + path_};
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "paused-holder-XXXXXX").string();
};

}  // namespace

int main() try {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/accounts.db";
  return paused_holder::show([path] { return SqliteBalance{path}; });
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
