// Starting programs from a process that may have many threads.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing::detail {

struct Launch {
  std::vector<std::string> arguments;  ///< The first is the path of the program.
  int input = -1;                      ///< Becomes its stdin; /dev/null when -1.
  std::string output = "/dev/null";    ///< Stdout and stderr are appended to this file.
  std::string errors = {};             ///< Stderr goes to this one, unless it is empty.
  pid_t group = 0;                     ///< The process group that it joins; 0: a new one with its own pid.
};

/// Starts a program with no other descriptors, no blocked signals and default signal handling, whatever this
/// process has. By posix_spawn: nothing of ours runs between fork and exec. It is in its group when this
/// returns. Throws std::system_error when the program cannot be started.
[[nodiscard]] pid_t launch(const Launch&);

/// Waits for a child of ours to end. False with `WNOHANG` in `flags` where it is still there.
bool reap(pid_t child, int flags = 0) noexcept;

/// The path of an executable: `name` itself where it has a slash, else from PATH.
[[nodiscard]] std::optional<std::string> find_program(std::string_view name);

}  // namespace redlock::testing::detail
