// redlock run: a command under a lock.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tool/exit_code.hpp"
#include "tool/nodes.hpp"

namespace redlock::tool {

struct RunArguments {
  NodeChoice nodes;
  std::string resource;
  std::vector<std::string> command;
  std::chrono::nanoseconds ttl = std::chrono::seconds{30};
  std::chrono::nanoseconds kill_after = std::chrono::seconds{5};
  std::optional<std::chrono::nanoseconds> wait;  ///< Zero: one attempt. None: as long as somebody has it.
  int conflict_code = conflict;
  std::string metrics;  ///< The file for what is counted. Empty: none.
};

struct Ending {
  int code = success;
  int signal = 0;  ///< The signal to die of, so that a shell stops its script; 0: none.
};

/// Says on stderr why the command did not run, or was ended. Throws `redlock::Error` and
/// `std::system_error`.
[[nodiscard]] Ending run(const RunArguments&);

}  // namespace redlock::tool
