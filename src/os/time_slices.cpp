#include "os/time_slices.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>

namespace redlock::inline v1::detail {
namespace {

/// The kernel's `sched_attr`, which not every C library declares.
struct SchedulingAttributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t
      runtime;  // ns; for ordinary threads the time slice, 0 if the kernel does not let it be chosen
  std::uint64_t deadline;
  std::uint64_t period;
};
constexpr std::uint64_t reset_on_fork = 1;
constexpr std::uint64_t short_slice = 500'000;

struct Close {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// With a system-call filter (seccomp), an unusual system call may end the process. Reading a file is safe.
bool has_filtered_system_calls() noexcept {
  const std::unique_ptr<std::FILE, Close> status{std::fopen("/proc/thread-self/status", "re")};
  char line[256];
  while (status && std::fgets(line, sizeof line, status.get()))
    if (line == std::string_view{"Seccomp:\t0\n"}) return false;
  return true;
}

}  // namespace

void take_short_slices() noexcept {
  if (has_filtered_system_calls()) return;
  SchedulingAttributes attributes{};
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  // With reset_on_fork, children would no longer inherit a raised priority; so leave such threads alone.
  if (attributes.policy != SCHED_OTHER || attributes.nice < 0 || attributes.runtime <= short_slice) return;
  attributes.runtime = short_slice;
  attributes.flags |= reset_on_fork;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace redlock::inline v1::detail
