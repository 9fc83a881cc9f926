#include "time_slices.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <string>

namespace redlock::inline v1::detail {
namespace {

/// As the kernel has it, which the C library does not always declare.
struct SchedulingAttributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime;  // ns
  std::uint64_t deadline;
  std::uint64_t period;
};

/// Then an unusual system call may end the process.
bool has_filtered_system_calls() {
  std::ifstream status{"/proc/thread-self/status"};
  for (std::string line; std::getline(status, line);)
    if (line == "Seccomp:\t0") return false;
  return true;
}

}  // namespace

void take_short_slices() noexcept try {
  if (has_filtered_system_calls()) return;
  SchedulingAttributes attributes{};
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;
  attributes.runtime = 100'000;  // the shortest there is
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): then without
}

}  // namespace redlock::inline v1::detail
