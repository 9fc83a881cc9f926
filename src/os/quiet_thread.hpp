// Starts threads that do not receive the program's signals.
#pragma once

#include <thread>
#include <utility>

#include "os/blocked_signals.hpp"
#include "os/time_slices.hpp"

namespace redlock::inline v1::detail {

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

/// Joins the thread. If it is the calling thread, detaches it instead.
inline void end_thread(std::thread& thread) {
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach();
  else if (thread.joinable())
    thread.join();
}

}  // namespace redlock::inline v1::detail
