// Starts programs from a process that may have many threads.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing::detail {

struct Launch {
  std::vector<std::string> arguments;  ///< The first is the path of the program.
  int input = -1;                      ///< Its stdin; -1 for /dev/null.
  std::string output = "/dev/null";    ///< Stdout and stderr are appended to this file.
  std::string errors = {};             ///< If not empty, stderr is appended to this file instead.
  pid_t group = 0;                     ///< The process group to join; 0 for a new one with its own pid.
};

/// Starts a program without further descriptors or blocked signals and with default signal handling, whatever
/// this process has. Uses posix_spawn, so no code of ours runs between fork and exec. When this returns, the
/// program is in its group. Throws std::system_error if the program cannot be started.
[[nodiscard]] pid_t launch(const Launch&);

/// Waits for a child process to end. With `WNOHANG` in `flags`, returns false if it is still running.
bool reap(pid_t child, int flags = 0) noexcept;

/// Returns the path of an executable: `name` itself if it contains a slash, else the one found in PATH.
[[nodiscard]] std::optional<std::string> find_program(std::string_view name);

}  // namespace redlock::testing::detail
