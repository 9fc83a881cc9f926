// What the kernel knows about this process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace redlock::testing {

/// Open descriptors of this process.
[[nodiscard]] std::size_t count_descriptors();

/// The kernel's ids of its threads. One that was joined may still be among them for a moment.
[[nodiscard]] std::set<pid_t> threads();

/// A field of /proc/self/task/ID/status: `status_of(thread, "SigBlk")`. Empty: no such field or thread.
[[nodiscard]] std::string status_of(pid_t thread, const std::string& field);

/// How often a thread has gone to sleep.
[[nodiscard]] std::uint64_t sleeps_of(pid_t thread);

/// Lets a process of its own run `body`, a copy of this one with only the calling thread in it, and returns
/// its exit code, which is what `body` returned; -1 where a signal ended it, -2 where it was still there
/// after a minute (it is killed then). Nothing of the test framework may be used in `body`: it would report
/// to nobody.
int exit_code_of_child(int (*body)(void*), void* argument);

template <class Body>
int in_child(Body&& body) {
  return exit_code_of_child([](void* argument) { return (*static_cast<Body*>(argument))(); }, &body);
}

}  // namespace redlock::testing
