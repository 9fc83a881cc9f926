// Whether anybody reads the output.
#pragma once

#include <poll.h>
#include <unistd.h>

namespace redlock::tool {

/// Returns true if stdout is a pipe that nobody reads any more.
[[nodiscard]] inline bool is_output_closed() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace redlock::tool
