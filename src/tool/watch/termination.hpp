// When the command has to end, and the signals that end it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>

#include "redlock/clock.hpp"

namespace redlock::tool {

/// Sends the command's process group SIGTERM some time before the deadline of its lock, and SIGKILL at the
/// deadline.
///
/// The state is in memory that this process shares with its children. Whichever of them calls `send_due`
/// first sends the signals, and the group gets only one SIGTERM. The deadline can be moved until then; after
/// SIGTERM there is no way back.
///
/// Threads and processes: any of them may make any call at any time. All calls make system calls only, so a
/// child of fork() may make them. None of them blocks.
class Termination {
 public:
  /// Throws `std::system_error`.
  Termination();

  /// Starts the watch over a process group. `grace`: how long before the deadline it gets SIGTERM. Call this
  /// once.
  void begin(pid_t group, Clock::time_point deadline, Clock::duration grace) noexcept;
  /// Moves the deadline. Has no effect after SIGTERM.
  void move(Clock::time_point deadline) noexcept;
  /// Sends the signals whose time has come. After `begin` only.
  void send_due() noexcept;
  /// Sends SIGTERM, if it has not been sent, and has SIGKILL sent after this time, or at the deadline if that is earlier. Has no
  /// effect before `begin`.
  void end_within(Clock::duration) noexcept;
  /// Sends SIGTERM, if it has not been sent, and SIGKILL. Has no effect before `begin`.
  void kill_now() noexcept;

  /// Returns when the next signal is due; `core::never` before `begin` and after SIGKILL.
  [[nodiscard]] Clock::time_point due() const noexcept;
  /// Returns true if the group had got a signal by `when`.
  [[nodiscard]] bool has_begun_by(Clock::time_point when) const noexcept;

 private:
  struct Shared {
    std::atomic<pid_t> group = 0;  // 0: there is no command yet
    std::atomic<Clock::time_point> deadline{};
    // Of `end_within`. Not in `deadline`, where a `move` at the same time could undo it.
    std::atomic<Clock::time_point> end = Clock::time_point::max();
    std::atomic<Clock::duration> grace{};
    std::atomic<Clock::time_point> begun = Clock::time_point::max();  // when SIGTERM was sent
    std::atomic<bool> is_over = false;                                // SIGKILL was sent
  };
  static_assert(std::atomic<Clock::time_point>::is_always_lock_free, "works between processes");
  struct Unmap {
    void operator()(Shared* shared) const noexcept;
  };

  [[nodiscard]] Clock::time_point kill_at() const noexcept;
  void terminate() noexcept;
  void kill() noexcept;

  std::unique_ptr<Shared, Unmap> shared_;
};

}  // namespace redlock::tool
