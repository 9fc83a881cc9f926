// The value that holders read, change and write back, in an SQLite database that all processes share.
#pragma once

#include <cstdint>
#include <string>

#include "fenced_table.hpp"
#include "redlock/clock.hpp"

namespace redlock::chaos {

/// The fenced table, and its twin that takes every write. Each write adds one to the value that its writer has seen. Triggers
/// count the writes that replace another value than that: they overwrite one that their writer has not seen. What is in the
/// database is whole, whenever a process dies.
class SharedStores {
 public:
  /// Throws std::runtime_error, as the other members do.
  explicit SharedStores(const std::string& path);

  struct Seen {
    std::int64_t fenced;
    std::int64_t unfenced;
  };
  /// Throws StaleToken if the holder is too late.
  [[nodiscard]] Seen read(FencingToken token);
  void write_unfenced(const Seen&);
  /// Writes only before `latest`: looks at the clock when nobody else can read or write any more. Returns whether it has written.
  bool write_unfenced_before(Clock::time_point latest, const Seen&);
  /// Throws StaleToken if the holder is too late.
  void write_fenced(FencingToken token, const Seen&);

  [[nodiscard]] std::int64_t lost_fenced() { return number("SELECT fenced FROM lost"); }
  [[nodiscard]] std::int64_t lost_unfenced() { return number("SELECT unfenced FROM lost"); }
  [[nodiscard]] std::int64_t written_fenced();
  /// Including those that were lost.
  [[nodiscard]] std::int64_t written_unfenced() { return number("SELECT unfenced FROM written"); }

 private:
  void run(const std::string& statement);
  std::int64_t number(const char* query);

  FencedTable table_;
  struct Close {
    void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace redlock::chaos
