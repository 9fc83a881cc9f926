// Runs the user's callbacks.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "os/quiet_thread.hpp"

namespace redlock::inline v1::detail {

/// True on a thread of the library while it runs a callback of the user. A callback waits for no other callback, not even
/// for one of another client: two callbacks that wait for each other would never return.
inline constinit thread_local bool runs_user_code = false;

/// Runs `call`. If it throws, passes a description of the exception to `complain`, which may run the user's code as well.
template <class Call, class Complain>
void run_user_code(const Call& call, const Complain& complain) {
  struct Mark {
    const bool before = std::exchange(runs_user_code, true);
    ~Mark() { runs_user_code = before; }
  } const mark;
  try {
    call();
  } catch (const std::exception& error) {
    complain(std::string_view{error.what()});
  } catch (...) {
    complain(std::string_view{"an exception that is not a std::exception"});
  }
}

/// Runs a callback and destroys it, because the user's destructors are user code, too. If it throws, tells `report`,
/// which may be empty, that it is `name` that threw.
template <class Callback>
void run_callback(Callback callback, std::string_view name,
                  const std::function<void(std::string_view)>& report) {
  const auto complain = [&](std::string_view what) {
    try {
      if (report) report(std::string{name}.append(" threw: ").append(what));
    } catch (...) {  // NOLINT(bugprone-empty-catch): there is nowhere to report it
    }
  };
  run_user_code(
      [&callback] {
        Callback call = std::move(callback);
        call();
      },
      complain);
}

/// Joins a thread that runs callbacks. Inside a callback, and for a thread that was not started, does not block: the
/// thread then ends by itself.
inline void end_callback_thread(std::thread& thread) {
  if (!runs_user_code)
    end_thread(thread);
  else if (thread.joinable())
    thread.detach();
}

}  // namespace redlock::inline v1::detail
