// The thread that handles connections while no caller waits.
#pragma once

#include <poll.h>

#include <functional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "os/descriptor.hpp"
#include "os/wake_event.hpp"
#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::detail {

/// Sleeps until a time on the clock that also runs while the machine is suspended, or until it is called. Use every
/// function except `sleep` under the client's mutex.
class BackgroundThread {
 public:
  BackgroundThread();
  ~BackgroundThread() = default;
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  /// Starts the thread with `body` if it does not run yet. Throws std::system_error if the system has no thread for it.
  void start(const std::function<void()>& body);
  /// Starts the thread if needed, and makes sure that it wakes up at `when` or earlier. Does not wake it now. If the
  /// thread cannot be started, the next caller does the work.
  void wake_by(core::Time when, const std::function<void()>& body) noexcept;
  void arm(core::Time when);
  /// Ends the current poll, or the next one if the thread does not poll now.
  void call() const noexcept { called_.set(); }
  /// Blocks the background thread until the timer, a call, or an event on one of `others`. Call it without the mutex.
  /// Returns true if one of `others` has an event.
  bool sleep(std::vector<pollfd>& others) const;
  /// Resets timer and call if they ended the sleep. To be called after `sleep`, with the same vector.
  void awake(const std::vector<pollfd>& polled);

  /// Readable once `call` was called; for polling along with sockets. Only this thread may clear it.
  [[nodiscard]] const WakeEvent& called() const noexcept { return called_; }

  void close_in_child() const noexcept {
    called_.close_in_child();
    timer_.close_in_child();
  }
  /// To be called before the destructor.
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  WakeEvent called_;
  Descriptor timer_;
  core::Time armed_ = core::never;
  std::thread thread_;
};

}  // namespace redlock::inline v1::detail
