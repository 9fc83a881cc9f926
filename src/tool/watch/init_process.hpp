// The duties of the first process of a container.
#pragma once

namespace redlock::tool {

/// Does nothing unless this process is number 1. Then it becomes the init of its container: a child process returns from
/// this function and does the work, and this process
/// - reaps every process whose parent has ended; without that, their entries would fill the table of processes,
/// - passes the signals on that others send to it, such as the SIGTERM of a container that is to stop,
/// - ends with the exit code of the child, or 128 + N if signal N ended it. The system then kills the rest.
///
/// The child is in the same process group, so signals from the terminal reach it directly. Call this before the process has
/// other threads. Throws `std::system_error`.
void serve_as_init();

}  // namespace redlock::tool
