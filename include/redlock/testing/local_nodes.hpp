// Real Redis servers on this machine, for tests. A component of its own: link `redlock::testing`.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "redlock/export.hpp"

namespace redlock::testing {

namespace detail {
class LocalServers;
}  // namespace detail

struct LocalNodesOptions {
  /// More arguments for every server, later than ours and so stronger: `{"--maxmemory", "1mb"}`.
  std::vector<std::string> arguments = {};

  /// The server program: a path, or a name to look up in PATH. Empty: the environment variable
  /// REDLOCK_SERVER, else `redis-server`, else `valkey-server`.
  std::string server = {};

  /// The password of the default user; `url()` contains it. Empty: none.
  std::string password = {};

  /// Whether every write is on disk before it is answered (`appendfsync always`), so that data survives
  /// `kill()` and `restart_with_data()`. Otherwise nothing is written to disk.
  bool persist = false;

  /// How long servers may take to come up before that is an error.
  std::chrono::milliseconds start_timeout = std::chrono::seconds{30};
};

/// Some independent Redis servers (or Valkey servers), on free TCP ports of 127.0.0.1 and on a unix socket
/// each, which can be killed, paused and restarted:
///
///     redlock::testing::LocalNodes nodes{5};
///     const auto urls = nodes.urls();
///     redlock::Redlock locks{{urls.begin(), urls.end()}};
///     nodes.kill(0);
///     nodes.pause(1);
///
/// | a node is | after                                   | its port                                       |
/// |-----------|-----------------------------------------|------------------------------------------------|
/// | running   | construction, `restart_*()`, `resume()` | answers                                        |
/// | paused    | `pause()`                               | accepts connections and bytes, answers nothing |
/// | dead      | `kill()`, or it ended by itself         | refuses connections; nobody else gets the port |
///
/// Guarantees: a node keeps its port and paths for the lifetime of this object. When this object ends, or the
/// process, by whatever means (kill -9 included), all servers are killed and their files removed. In a child
/// of `fork()` the object is dead: its destructor does nothing there and the servers stay the parent's.
///
/// The servers accept DEBUG commands. They log into the temp folder; what goes wrong while one starts is
/// thrown with the end of its log. Linux only.
///
/// Threads: every call from any thread; calls wait for each other. Nodes are numbered from 0; another number
/// throws `std::out_of_range`.
class REDLOCK_EXPORT LocalNodes {
 public:
  /// Starts `count` servers, all at once, and blocks until each answers. Throws `std::runtime_error` when no
  /// server program is found or a server does not come up, `std::invalid_argument` when `count` is below 1.
  explicit LocalNodes(int count, LocalNodesOptions options = {});
  ~LocalNodes();
  LocalNodes(const LocalNodes&) = delete;
  LocalNodes& operator=(const LocalNodes&) = delete;

  [[nodiscard]] int size() const noexcept;
  [[nodiscard]] std::uint16_t port(int node) const;
  [[nodiscard]] std::string url(int node) const;  ///< `redis://127.0.0.1:PORT`
  [[nodiscard]] std::vector<std::string> urls() const;
  [[nodiscard]] std::string socket_path(int node) const;  ///< Where the node's unix socket is.
  [[nodiscard]] bool running(int node) const;             ///< Its process is there; paused counts.
  [[nodiscard]] pid_t pid(int node) const;                ///< Throws `std::logic_error` when it is dead.

  /// SIGKILL. When this returns the process is gone and its connections are broken. Nothing when dead.
  void kill(int node);

  /// SIGSTOP. When this returns no thread of the server runs. Nothing when paused; throws `std::logic_error`
  /// when dead.
  void pause(int node);

  /// SIGCONT: the server goes on with everything that arrived meanwhile. Nothing when running; throws
  /// `std::logic_error` when dead.
  void resume(int node);

  /// Kills the node if it is not dead, and starts it without data, blocking until it answers. Throws
  /// `std::runtime_error` when it does not; it is dead then.
  void restart_empty(int node);

  /// The same with its data. Throws `std::logic_error` without `LocalNodesOptions::persist`.
  void restart_with_data(int node);

 private:
  std::unique_ptr<detail::LocalServers> servers_;
};

}  // namespace redlock::testing
