// Threads that leave the program's signals to the program.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

#include "os/time_slices.hpp"

namespace redlock::inline v1::detail {

/// Starts a thread with all signals blocked: handlers run on threads that the program made.
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

/// Likewise, for one that must be there in time although the machine is busy.
template <class Body>
[[nodiscard]] std::thread prompt_thread(Body&& body) {
  return quiet_thread([body = std::forward<Body>(body)] {
    take_short_slices();
    body();
  });
}

/// Waits for its end. A thread that ends itself so goes on alone.
inline void end_thread(std::thread& thread) {
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach();
  else if (thread.joinable())
    thread.join();
}

}  // namespace redlock::inline v1::detail
