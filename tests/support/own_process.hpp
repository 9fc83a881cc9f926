// Facts about this process and others from the kernel.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace redlock::testing {

/// Number of open descriptors of this process.
[[nodiscard]] std::size_t count_descriptors();

/// The kernel's ids of all threads of this process. A thread that was joined may still be listed for a
/// moment.
[[nodiscard]] std::set<pid_t> threads();

/// A field of /proc/ID/status, of any process or thread: `status_of(thread, "SigBlk")`. Empty if there is no such field,
/// process or thread.
[[nodiscard]] std::string status_of(pid_t id, const std::string& field);

/// How often the thread, or the first thread of the process, has gone to sleep (voluntary context switches).
[[nodiscard]] std::uint64_t sleeps_of(pid_t id);

/// Whether this child process has not ended yet. Leaves it for who waits for it.
[[nodiscard]] bool is_running_child(pid_t child);

/// Forks a child process, which has only a copy of the calling thread, and runs `body` in it. Returns the
/// exit code, which is what `body` returned; -1 if a signal ended the child, -2 if the child was killed
/// because it still ran after a minute. `body` must not use the test framework, as its reports would be lost.
int exit_code_of_child(int (*body)(void*), void* argument);

template <class Body>
int in_child(Body&& body) {
  return exit_code_of_child([](void* argument) { return (*static_cast<Body*>(argument))(); }, &body);
}

}  // namespace redlock::testing
