// The thread that looks after connections while nobody waits.
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

/// Sleeps until a time on the clock that also runs while the machine is suspended, or until it is called.
/// All but `sleep` under the client's mutex.
class BackgroundThread {
 public:
  BackgroundThread();
  ~BackgroundThread() = default;
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  /// Makes sure that the thread runs `body`. Throws std::system_error when none can be had.
  void start(const std::function<void()>& body);
  /// The same, and that it looks about at `when` or earlier. From any thread, without waking it. When no thread can be
  /// had, the next caller will do the work.
  void wake_by(core::Time when, const std::function<void()>& body) noexcept;
  void arm(core::Time when);
  /// Ends its poll now: this one, or the next.
  void call() const noexcept { called_.set(); }
  /// Blocks the background thread, without the mutex, until one of these has something, at the latest. Whether one has.
  bool sleep(std::vector<pollfd>& others) const;
  /// After `sleep`.
  void awake();

  /// Readable when it is called: to be polled beside sockets, and cleared by this thread only.
  [[nodiscard]] const WakeEvent& called() const noexcept { return called_; }

  void close_in_child() const noexcept {
    called_.close_in_child();
    timer_.close_in_child();
  }
  /// Before it is destroyed.
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
