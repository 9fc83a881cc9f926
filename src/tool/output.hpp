// What all commands write, and whether anybody reads it.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <iostream>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <syncstream>

#include "redlock/core/base/printable.hpp"
#include "redlock/node_report.hpp"

namespace redlock::tool {

/// Writes a warning, unless this process has written the same one before. Thread safe.
inline void warn(std::string_view warning) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> written;
  {
    const std::lock_guard lock{mutex};
    if (!written.emplace(warning).second) return;
  }
  std::osyncstream{std::cerr} << "redlock: warning: " << core::printable(warning, std::string::npos) << '\n';
}

/// What each node says, a line for each.
inline void write_reports(std::ostream& out, std::span<const NodeReport> reports) {
  for (const NodeReport& report : reports) out << "  " << report << '\n';
}

/// Returns true if stdout is a pipe that nobody reads any more.
[[nodiscard]] inline bool is_output_closed() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace redlock::tool
