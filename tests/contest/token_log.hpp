// Who got which token, and when: written by the contestants, judged in the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::testing {

/// One successful acquisition. Both times are of one clock, which all processes share.
struct Acquired {
  std::uint64_t resource = 0;
  std::int64_t invoked_ns = 0;    ///< before the call
  std::int64_t completed_ns = 0;  ///< after it
  std::uint64_t token = 0;
};

/// What one process has to tell.
struct TokenLog {
  std::vector<Acquired> acquired;
  std::uint64_t second_rounds = 0;  ///< acquisitions that needed one

  void write(const std::string& path) const;
  /// Throws std::runtime_error where there is none, or not a whole one.
  static TokenLog read(const std::string& path);
};

/// Why these tokens are not what they promise: one was given out twice, is missing, or is not greater than that of an
/// acquisition of the same resource which had completed before this one was invoked. None where all is well.
[[nodiscard]] std::optional<std::string> broken_promise(std::vector<Acquired>);

}  // namespace redlock::testing
