// Scheduling of time-critical threads on a busy machine.
#include "os/time_slices.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <future>
#include <set>
#include <string>
#include <thread>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/own_process.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;

/// Time slice of a thread in nanoseconds, from `sched_getattr`, or 0 if the kernel does not report it. `thread` 0: the calling one.
std::uint64_t slice_of(pid_t thread = 0) {
  std::array<std::uint64_t, 6> attributes{};
  ::syscall(SYS_sched_getattr, thread, attributes.data(), sizeof attributes, 0);
  return attributes[3];
}
bool has_filtered_system_calls() {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line == "Seccomp:\t0") return false;
  return true;
}
/// The time slice of a thread that requested a short one.
std::uint64_t expected_slice() {
  const bool is_ordinary = ::sched_getscheduler(0) == SCHED_OTHER && ::getpriority(PRIO_PROCESS, 0) >= 0;
  return is_ordinary && !has_filtered_system_calls() ? std::min<std::uint64_t>(slice_of(), 500'000)
                                                     : slice_of();
}

}  // namespace

TEST_CASE("the_notifying_thread_wakes_a_few_times_before_the_deadline") {
  const LocalNodes nodes{3};
  CHECK(eventually([&] {  // repeated in case the machine was too busy
    redlock::Redlock locks{endpoints(nodes)};
    std::promise<std::uint64_t> slept;
    const redlock::Lease lease =
        locks
            .lock("r", {.ttl = 100ms,
                        .renewal = redlock::Renewal::none,
                        .on_lost = [&](redlock::Loss) { slept.set_value(sleeps_of(::gettid())); }})
            .value();
    return slept.get_future().get() >= 8;
  }));
}

TEST_CASE("a_thread_waiting_for_a_loss_wakes_a_few_times_before_the_deadline") {
  const LocalNodes nodes{3};
  redlock::Redlock locks{endpoints(nodes)};
  CHECK(eventually([&] {
    const redlock::Lease lease = locks.lock("r", {.ttl = 100ms, .renewal = redlock::Renewal::none}).value();
    const std::uint64_t before = sleeps_of(::gettid());
    return lease.wait_lost() && sleeps_of(::gettid()) - before >= 8;
  }));
}

TEST_CASE("time_critical_threads_have_short_time_slices_that_are_not_inherited") {
  const std::uint64_t own = slice_of();
  const std::uint64_t expected = expected_slice();
  const LocalNodes nodes{3};
  const std::set<pid_t> before = threads();
  redlock::Redlock locks{endpoints(nodes)};
  std::promise<std::uint64_t> of_teller;
  std::promise<std::uint64_t> of_its_child;
  const auto on_lost = [&](redlock::Loss) {
    of_teller.set_value(slice_of());
    std::thread{[&] { of_its_child.set_value(slice_of()); }}.join();
  };
  const redlock::Lease lease = locks.lock("r", {.ttl = 1s, .max_hold = 1s, .on_lost = on_lost}).value();
  CHECK(eventually([&] {  // one renews, one notifies
    const std::set<pid_t> now = threads();
    return std::count_if(now.begin(), now.end(), [&](pid_t thread) {
             return !before.contains(thread) && slice_of(thread) == expected;
           }) == 2;
  }));
  CHECK(of_teller.get_future().get() == expected);
  CHECK(of_its_child.get_future().get() == own);
}

TEST_CASE("a_thread_keeps_the_scheduling_class_set_by_the_program") {
  bool is_allowed = false;
  int policy = 0;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::thread{[&] {
    const sched_param none{};
    is_allowed = ::sched_setscheduler(0, SCHED_BATCH, &none) == 0;
    before = slice_of();
    redlock::detail::take_short_slices();
    after = slice_of();
    policy = ::sched_getscheduler(0);
  }}.join();
  if (!is_allowed) return;
  CHECK(policy == SCHED_BATCH);
  CHECK(after == before);
}
