// The tokens that the contestants acquired, with their times: written by each contestant, checked at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::testing {

/// One successful acquisition. Both times are of the same clock in all processes.
struct Acquired {
  std::uint64_t resource = 0;
  std::int64_t invoked_ns = 0;    ///< before the call
  std::int64_t completed_ns = 0;  ///< after it
  std::uint64_t token = 0;
  bool is_shared = false;  ///< by a reader
};

/// The results of one process.
struct TokenLog {
  std::vector<Acquired> acquired;
  std::uint64_t second_rounds = 0;  ///< acquisitions that needed a second round

  void write(const std::string& path) const;
  /// Throws std::runtime_error if the log is missing or incomplete.
  static TokenLog read(const std::string& path);
};

/// Describes a violation: a token was issued twice, is missing, or is not greater than that of an acquisition
/// of the same resource that had completed before this one was invoked. But readers may have the token of other readers, or a
/// smaller one. Empty if there is no violation.
[[nodiscard]] std::optional<std::string> find_violation(std::vector<Acquired>);

}  // namespace redlock::testing
