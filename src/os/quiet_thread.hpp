// Starts threads that do not receive the program's signals.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

#include "os/time_slices.hpp"

namespace redlock::inline v1::detail {

/// Starts a thread with all signals blocked, so that signal handlers run on the program's own threads.
template <class Body>
[[nodiscard]] std::thread quiet_thread(Body&& body) {
  struct Blocked {
    sigset_t before{};
    Blocked() noexcept {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  } const blocked;
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

/// Joins the thread. If it is the calling thread, detaches it instead.
inline void end_thread(std::thread& thread) {
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach();
  else if (thread.joinable())
    thread.join();
}

}  // namespace redlock::inline v1::detail
