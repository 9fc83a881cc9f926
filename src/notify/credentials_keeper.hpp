// Asks for credentials that may change.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "redlock/core/base/time.hpp"
#include "redlock/login/credentials.hpp"

namespace redlock::inline v1::detail {

/// Calls the user's source of credentials again and again, on a thread of its own and under no mutex of the client, so the
/// source may block. If it throws, there is one warning until a round succeeds for all nodes.
class CredentialsKeeper {
 public:
  struct Task {
    std::size_t nodes = 0;
    core::Span interval{};                                           ///< Between two rounds of questions.
    std::function<Credentials(std::size_t node)> ask;                ///< The user's code.
    std::function<void(std::size_t node, const Credentials&)> tell;  ///< Takes each answer. Must not block.
    std::function<void(std::string)> warn;                           ///< Must not block.
  };
  explicit CredentialsKeeper(Task task);
  CredentialsKeeper(const CredentialsKeeper&) = delete;
  CredentialsKeeper& operator=(const CredentialsKeeper&) = delete;

  /// Starts the thread. The first round is after the interval. Throws std::system_error if the system has no thread.
  void start();
  /// Begins the next round soon: a second after the last one at the earliest, or after the interval if that is shorter.
  /// Never blocks.
  void hurry() const noexcept;
  /// Afterwards neither `tell` nor `warn` is called. Waits for a call of `ask` on the thread, unless it is called inside a
  /// callback.
  void stop();
  void close_in_child() const noexcept;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // outlives this object if a callback destroys it
};

}  // namespace redlock::inline v1::detail
