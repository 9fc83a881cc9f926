// Is told by the nodes when the copies of a lock change.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "os/wake_event.hpp"
#include "redlock/clock.hpp"
#include "redlock/endpoint.hpp"
#include "tool/probe/dialogue.hpp"

namespace redlock::tool {

/// Listens on each node to changes of some keys, in a thread and over a connection of its own. The nodes say that a key was
/// changed, extended or deleted, or that it expired, not which value it has.
///
/// A node that does not answer, or whose credentials cannot be read, is called again every second. While it did not listen,
/// changes may have been missed, so the beginning counts as a change. A node whose server is older than 6.0, or whose user
/// may not listen, is *deaf*: it reports nothing, and has to be asked. So is one for a minute that has reported more than 10,000
/// changes within a second.
///
/// Threads: one thread calls `wait`.
class ChangeListeners {
 public:
  /// Begins to listen. Does not wait for the nodes. `credentials`: asked for each connection, by several threads at the
  /// same time; may be empty. Throws `std::system_error` if there are no threads.
  ChangeListeners(const std::vector<Endpoint>& nodes, std::vector<std::string> keys,
                  CredentialsSource credentials = nullptr);
  ChangeListeners(const ChangeListeners&) = delete;
  ChangeListeners& operator=(const ChangeListeners&) = delete;

  /// Blocks until a node has reported a change since the last call, until that time, or until a stop request. Returns
  /// whether one has.
  bool wait(Clock::time_point until, const std::stop_token& stop = {});

  /// How many nodes report changes at present.
  [[nodiscard]] std::size_t listening() const;
  /// How many nodes cannot report changes.
  [[nodiscard]] std::size_t deaf() const;

 private:
  void listen(const Endpoint& node, const std::stop_token& stop);
  enum class End { lost, refused, flooded };
  /// Until the connection ends. Returns why it has.
  End listen_once(const Endpoint& node);
  /// Adds this to one of the counters, which also counts as a change.
  void count(std::size_t& counter, int difference);

  const std::vector<std::string> keys_;
  const CredentialsSource credentials_;
  const detail::WakeEvent end_;  // ends the waits of the threads
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool has_changed_ = false;  // under mutex_, as are the counters
  std::size_t listening_ = 0;
  std::size_t deaf_ = 0;
  std::vector<std::jthread> threads_;  // the last member: they end before the others
};

}  // namespace redlock::tool
