// Forwards signals from this process to its command.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

#include "tool/run/command.hpp"

namespace redlock::tool {

/// Handles SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH and SIGTSTP on a thread of its own.
/// While there is no command, the first of them ends the wait for the lock, or this process during a `Preparation`; SIGTSTP
/// stops this process, unless its group is orphaned, and SIGWINCH has no effect. While there is one, they are forwarded to it.
/// There may be several commands, one after the other. Signals that were ignored when this process started stay ignored.
///
/// Create it before any other thread, so that all threads inherit the blocked signals.
class SignalForwarder {
 public:
  /// While it exists, nobody looks at `stop`, because files are read that may block: a signal that would end the wait ends this
  /// process at once, by the signal's default action. Nothing is held yet.
  class Preparation {
   public:
    explicit Preparation(SignalForwarder& signals) noexcept : signals_{signals} { signals_.prepare(true); }
    ~Preparation() { signals_.prepare(false); }
    Preparation(const Preparation&) = delete;
    Preparation& operator=(const Preparation&) = delete;

   private:
    SignalForwarder& signals_;
  };

  SignalForwarder();
  ~SignalForwarder();
  SignalForwarder(const SignalForwarder&) = delete;
  SignalForwarder& operator=(const SignalForwarder&) = delete;

  /// The first signal requests this stop, as long as there is no command. Once a command has ended, it is another stop.
  [[nodiscard]] std::stop_token stop() const noexcept { return stop_.get_token(); }
  /// Returns the signal that arrived while there was no command, since the last one if there was any, or 0 if
  /// none did.
  [[nodiscard]] int stopped_by() const noexcept { return stopped_by_; }
  /// The signal mask that this process was started with. The command gets it.
  [[nodiscard]] const sigset_t& mask_before() const noexcept { return before_; }

  /// Returns true if this signal was forwarded to the last command.
  [[nodiscard]] bool has_forwarded(int number) const noexcept { return (forwarded_ >> number & 1U) != 0; }
  /// Returns true if a signal asked this process or the command to end: SIGINT, SIGQUIT or SIGTERM, or any that ends a wait and
  /// arrived while there was no command.
  [[nodiscard]] bool asked_to_end() const noexcept {
    return stopped_by_ != 0 || has_forwarded(SIGINT) || has_forwarded(SIGQUIT) || has_forwarded(SIGTERM);
  }
  /// Returns true if SIGTSTP was forwarded to the command since the last call.
  bool consume_stop_request() noexcept { return stop_requested_.exchange(false); }
  /// Starts forwarding to this command, including the signal that arrived before, if any. With null, stops
  /// forwarding: when this returns, no more signals are sent.
  void forward_to(const Command* command) noexcept;

 private:
  void prepare(bool is_preparing) noexcept;
  void listen() noexcept;
  void handle(int number) noexcept;
  void forward(int number) noexcept;

  sigset_t before_{};
  sigset_t watched_{};
  std::stop_source stop_;
  std::atomic<int> stopped_by_{0};
  std::atomic<std::uint64_t> forwarded_{0};  // one bit for each signal number
  std::atomic<bool> stop_requested_{false};
  std::atomic<bool> closing_{false};
  std::mutex mutex_;
  bool is_preparing_ = false;         // guarded by mutex_
  const Command* command_ = nullptr;  // guarded by mutex_
  std::thread thread_;
};

/// Ends this process by the default action of the signal, so that a calling shell stops its script.
[[noreturn]] void die_by_signal(int signal) noexcept;

}  // namespace redlock::tool
