// What redlock run tells people while it waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "redlock/clock.hpp"
#include "redlock/lock_result.hpp"

namespace redlock::tool {

enum class Verbosity : std::uint8_t { quiet, normal, verbose };

/// Writes to stderr. On a terminal it updates one line, which it removes at the end; elsewhere it writes a line at the start
/// of a wait and then each minute.
class Progress {
 public:
  Progress(std::string resource, Verbosity);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// How long to wait at most until the next call of `held`.
  [[nodiscard]] std::chrono::nanoseconds interval() const noexcept;
  /// Somebody has the lock.
  void held(const std::optional<Holder>&);
  /// Too few nodes vote, and enough of them have said when they vote again.
  void nodes_awaited(std::span<const NodeReport>);
  /// The wait is over.
  void taken(const Lease&);

 private:
  void clear_line();

  std::string resource_;
  Verbosity verbosity_;
  bool is_terminal_;
  bool has_line_ = false;
  Clock::time_point begun_;
  std::optional<Clock::time_point> last_;  // when a line was written
};

}  // namespace redlock::tool
