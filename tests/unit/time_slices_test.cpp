#include "time_slices.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "support/catch.hpp"

using redlock::detail::take_short_slices;

namespace {

struct Scheduling {
  int policy;
  int nice;
  std::optional<long> slice;  // ns; none where the kernel does not tell
};

std::optional<long> time_slice() {
  std::ifstream file{"/proc/thread-self/sched"};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("se.slice")) return std::stol(line.substr(line.find(':') + 1));
  return std::nullopt;
}
Scheduling current() { return {::sched_getscheduler(0), ::getpriority(PRIO_PROCESS, 0), time_slice()}; }

/// Whether this kernel heeds what a thread asks for, and nobody filters its system calls.
bool heeds_wishes() {
  utsname system{};
  int major = 0;
  int minor = 0;
  if (::uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &major, &minor) != 2) return false;
  std::ifstream status{"/proc/thread-self/status"};
  bool filtered = true;
  for (std::string line; std::getline(status, line);) filtered = filtered && line != "Seccomp:\t0";
  return !filtered && (major > 6 || (major == 6 && minor >= 12));
}

/// Of a thread that asked for short slices after this.
template <class Prepare>
Scheduling after(Prepare&& prepare) {
  Scheduling found{};
  std::thread{[&] {
    prepare();
    take_short_slices();
    found = current();
  }}.join();
  return found;
}

}  // namespace

TEST_CASE("a_thread_that_must_be_prompt_has_the_shortest_slices_and_the_same_priority") {
  const Scheduling before = current();
  const Scheduling now = after([] { ::setpriority(PRIO_PROCESS, 0, 5); });
  CHECK(now.policy == before.policy);
  CHECK(now.nice == 5);
  CHECK(now.slice == (before.slice && heeds_wishes() ? 100'000 : before.slice));
}

TEST_CASE("a_thread_that_the_program_has_put_into_another_class_stays_there") {
  const auto to_batch = [] {
    const sched_param none{};
    REQUIRE(::sched_setscheduler(0, SCHED_BATCH, &none) == 0);
  };
  std::optional<long> before;
  const Scheduling now = after([&] {
    to_batch();
    before = time_slice();
  });
  CHECK(now.policy == SCHED_BATCH);
  CHECK(now.slice == before);
}
