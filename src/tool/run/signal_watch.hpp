// Signals that this process gets, for the command that runs for it.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

#include "tool/run/command.hpp"

namespace redlock::tool {

/// Takes the signals that ask a process to do something: until there is a command they end the wait for the lock,
/// afterwards they go to the command. SIGTSTP stops the wait, or the command. Those that were ignored when this
/// process started stay ignored.
///
/// Make it before other threads: they inherit that these signals are blocked.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Requested by the first signal, as long as there is no command.
  [[nodiscard]] std::stop_token stop() const noexcept { return stop_.get_token(); }
  /// That signal; 0: none came.
  [[nodiscard]] int stopped_by() const noexcept { return stopped_by_; }
  /// The mask that this process was started with: the command's.
  [[nodiscard]] const sigset_t& mask_before() const noexcept { return before_; }

  /// Whether the command has been sent this one.
  [[nodiscard]] bool has_forwarded(int number) const noexcept { return (forwarded_ >> number & 1U) != 0; }
  /// Whether the command has been sent SIGTSTP since this was asked last.
  bool take_stop_request() noexcept { return stop_requested_.exchange(false); }
  /// From now on signals go to this command, one that came before included. Null: to nobody, from when this
  /// returns.
  void forward_to(const Command* command) noexcept;

 private:
  void listen() noexcept;
  void handle(int number) noexcept;
  void forward(int number) noexcept;

  sigset_t before_{};
  sigset_t watched_{};
  std::stop_source stop_;
  std::atomic<int> stopped_by_{0};
  std::atomic<std::uint64_t> forwarded_{0};  // a bit for each
  std::atomic<bool> stop_requested_{false};
  std::atomic<bool> closing_{false};
  std::mutex mutex_;
  const Command* command_ = nullptr;  // under mutex_
  std::thread thread_;
};

/// Ends this process as this signal does by itself: a shell that waits for it then stops its script.
[[noreturn]] void die_of(int signal) noexcept;

}  // namespace redlock::tool
