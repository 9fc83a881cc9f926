// Threads and processes that do not receive the program's signals.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <utility>

#include "os/time_slices.hpp"

namespace redlock::inline v1::detail {

/// Blocks the signals of the calling thread until the destructor. Threads and processes that it starts meanwhile inherit
/// this, from their first moment on. The signals of a crash reach the program's handler on any thread, and those of a
/// profiler do no harm, so these are left as they are.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t most;
    sigfillset(&most);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF})
      sigdelset(&most, number);
    pthread_sigmask(SIG_BLOCK, &most, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

/// Starts a thread with the signals of `BlockedSignals` blocked, so that signal handlers run on the program's own threads.
template <class Body>
[[nodiscard]] std::thread quiet_thread(Body&& body) {
  const BlockedSignals blocked;
  return std::thread{std::forward<Body>(body)};
}

/// Like `quiet_thread`, for a thread that must run punctually even if the machine is busy.
template <class Body>
[[nodiscard]] std::thread prompt_thread(Body&& body) {
  return quiet_thread([body = std::forward<Body>(body)] {
    take_short_slices();
    body();
  });
}

/// From now on `dlclose` leaves the shared library that this code is linked into in memory, because a thread that nobody joins
/// may still run it. Call it before such threads are started, on the program's thread and under no mutex: it takes the lock of
/// the dynamic linker, which may be held by a thread that waits for this one.
inline void pin_module() {
  // Initialised by the compiler, and not by the first caller, for whom a child of a fork() meanwhile would wait for ever.
  static constinit std::atomic<bool> is_pinned{false};
  if (is_pinned) return;
  Dl_info found{};
  if (::dladdr(reinterpret_cast<void*>(&pin_module), &found) == 0) return;
  // Fails for the program itself, which nobody can unload.
  void* const module = ::dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (module) ::dlclose(module);
  is_pinned = true;
}

/// Joins the thread. If it is the calling thread, detaches it instead.
inline void end_thread(std::thread& thread) {
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach();
  else if (thread.joinable())
    thread.join();
}

}  // namespace redlock::inline v1::detail
