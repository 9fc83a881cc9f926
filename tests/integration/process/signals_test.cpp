// Signals belong to the program. They neither cancel a call nor reach the library's thread.
#include <sys/time.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <latch>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "integration/process/signal_handler.hpp"
#include "integration/support/observers.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/network/proxy.hpp"
#include "support/own_process.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

namespace {

const redlock::LockOptions lasting{.ttl = 60s};

/// Sends SIGALRM to the process a thousand times a second. Any thread that does not block it may get it.
class SignalSource {
 public:
  SignalSource() { set({0, 1000}); }
  SignalSource(const SignalSource&) = delete;
  SignalSource& operator=(const SignalSource&) = delete;
  ~SignalSource() { set({0, 0}); }

 private:
  static void set(timeval period) {
    const itimerval timer{period, period};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  }
};

const std::set<int> of_a_crash_or_a_profiler{SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
                                             SIGTRAP, SIGSYS, SIGABRT, SIGPROF};

/// The background thread of the client, which must be the only new thread.
pid_t background_of(const InspectableLock&, const std::set<pid_t>& before) {
  std::optional<pid_t> found;
  REQUIRE(eventually([&] {
    for (const pid_t thread : threads())
      if (!before.contains(thread)) found = thread;
    return found.has_value();
  }));
  return *found;
}

}  // namespace

TEST_CASE("frequent_signals_cancel_and_lose_nothing") {
  LocalNodes nodes{3};
  Proxy slow{nodes.port(1)};
  Proxy slower{nodes.port(2)};
  InspectableLock locks{{nodes.url(0), slow.url(), slower.url()}, unhurried};
  REQUIRE(is_granted(locks.try_lock("warm up", lasting)));
  slow.set_delay(1ms, 2ms);  // so that callers poll or are parked
  slower.set_delay(1ms, 4ms);

  const Handler handler{SIGALRM};
  std::atomic<int> granted{0};
  std::atomic<int> refused{0};
  std::atomic<int> finished{0};
  std::latch marked{5};
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&, name = "resource " + std::to_string(caller)] {
        is_of_the_program = 1;
        marked.arrive_and_wait();
        for (int cycle = 0; cycle < 60; ++cycle) {
          auto lease = locks.try_lock(name, lasting);
          const bool kept = lease && lease->extend() && lease->release() == redlock::Release::released;
          ++(kept ? granted : refused);
        }
        ++finished;
      });
    marked.arrive_and_wait();
    const SignalSource signals;
    while (finished < 4)
      for (std::jthread& caller : callers) {
        ::pthread_kill(caller.native_handle(), SIGALRM);
        std::this_thread::sleep_for(100us);
      }
  }
  CHECK(granted == 4 * 60);
  CHECK(refused == 0);
  CHECK(handled > 100);
  CHECK(handled_elsewhere == 0);
  CHECK(locks.active() == 0);
  CHECK(eventually([&] { return Observers{nodes}.empty() == 3; }));
}

TEST_CASE("a_signal_does_not_shorten_a_pause_between_attempts") {
  LocalNodes nodes{1};
  InspectableLock locks{{nodes.url(0)}};
  redlock::Lease lease = locks.lock("resource", lasting).value();

  const Handler handler{SIGALRM};
  const SignalSource signals;
  const auto begin = redlock::Clock::now();
  CHECK(locks.try_lock_for("resource", 300ms, lasting).is_held());
  CHECK(redlock::Clock::now() - begin >= 300ms);
  CHECK(handled > 0);
  CHECK(handled_elsewhere == 0);
}

TEST_CASE("the_background_thread_handles_no_signals_but_those_of_a_crash_or_a_profiler") {
  LocalNodes nodes{1};
  const std::set<pid_t> before = threads();
  InspectableLock locks{{nodes.url(0)}};
  REQUIRE(is_granted(locks.try_lock("resource", lasting)));
  nodes.kill(0);
  static_cast<void>(locks.try_lock("resource", lasting));  // leaves a reconnect to the background thread
  const pid_t background = background_of(locks, before);

  const auto is_blocked = [&](int signal) {
    const std::uint64_t blocked = std::stoull(status_of(background, "SigBlk"), nullptr, 16);
    return (blocked >> (signal - 1) & 1U) != 0;
  };
  // The C library blocks all signals of a thread at first, until it sets those that the thread inherits.
  REQUIRE(eventually([&] { return !is_blocked(SIGSEGV); }));
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    const bool of_the_c_library = signal > 31 && signal < SIGRTMIN;
    if (signal == SIGKILL || signal == SIGSTOP || of_the_c_library) continue;
    CAPTURE(signal);
    CHECK(is_blocked(signal) == !of_a_crash_or_a_profiler.contains(signal));
  }
}

TEST_CASE("connections_closed_by_servers_raise_no_sigpipe") {
  LocalNodes nodes{3};
  check_no_sigpipe(nodes, {});
}

TEST_CASE("the_signals_of_a_crash_in_a_callback_reach_the_handler_of_the_program") {
  LocalNodes nodes{1};
  for (int signal = 1; signal <= SIGSYS; ++signal) {
    if (signal != SIGUSR1 && !of_a_crash_or_a_profiler.contains(signal)) continue;
    CAPTURE(signal);
    const Handler handler{signal};
    InspectableLock locks{{nodes.url(0)}};
    std::atomic<bool> was_called = false;
    const auto lease = locks.lock("r" + std::to_string(signal), {.on_lost = [&](redlock::Loss) {
                                    ::raise(signal);
                                    was_called = true;
                                  }});
    REQUIRE(lease);
    locks.shut_down();
    REQUIRE(eventually([&] { return was_called.load(); }));
    CHECK(handled == (signal == SIGUSR1 ? 0 : 1));  // others are for the threads of the program
    CHECK(handled_elsewhere == handled);
  }
}
