// Real Redis servers on this machine, for tests. Link `redlock::testing`, a separate component, to use them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "redlock/endpoint.hpp"
#include "redlock/export.hpp"

namespace redlock::testing {

namespace detail {
class LocalServers;
}  // namespace detail

struct LocalNodesOptions {
  /// Additional arguments for every server, such as `{"--maxmemory", "1mb"}`. They override the library's
  /// own.
  std::vector<std::string> arguments = {};

  /// The server program: a path, or a name to look up in PATH. Default: the environment variable
  /// REDLOCK_SERVER, then `redis-server`, then `valkey-server`.
  std::string server = {};

  /// The password of the default user; `url()` contains it. Default: no password.
  std::string password = {};

  /// If true, the servers write every change to disk before they answer (`appendfsync always`), so that data
  /// survives `kill()` followed by `restart_with_data()`. Otherwise they write nothing to disk.
  bool persist = false;

  /// If true, the servers speak TLS at their ports, with a certificate for 127.0.0.1 and localhost, and accept clients
  /// without a certificate. Needs the program `openssl`. Connect with `tls_options()`:
  ///
  ///     redlock::testing::LocalNodes nodes{5, {.tls = true}};
  ///     redlock::Redlock locks{nodes.urls(), {.tls = nodes.tls_options()}};
  bool tls = false;

  /// How long servers may take to start. After that, starting fails.
  std::chrono::milliseconds start_timeout = std::chrono::seconds{30};
};

/// Independent Redis or Valkey servers that can be killed, paused and restarted. Each listens on a free TCP
/// port of 127.0.0.1 and on a unix socket:
///
///     redlock::testing::LocalNodes nodes{5};
///     redlock::Redlock locks{nodes.urls()};
///     nodes.kill(0);
///     nodes.pause(1);
///
/// | state     | after                                   | its port                                       |
/// |-----------|-----------------------------------------|------------------------------------------------|
/// | running   | construction, `restart_*()`, `resume()` | answers                                        |
/// | paused    | `pause()`                               | accepts connections and bytes, answers nothing |
/// | dead      | `kill()`, or the server exited          | refuses connections; the port stays reserved   |
///
/// Lifetime: a node keeps its port and paths as long as this object exists. When this object is destroyed or
/// the process ends, even by kill -9, all servers are killed and their files are removed. In a child of
/// `fork()` do not use the object: its destructor does nothing there, and the servers belong to the parent.
///
/// The servers accept DEBUG commands and log to the temp folder. If a server fails to start, the exception
/// contains the end of its log. Linux only.
///
/// Threads: any thread may make any call; concurrent calls block each other. Nodes are numbered from 0; any
/// other number throws `std::out_of_range`.
class REDLOCK_EXPORT LocalNodes {
 public:
  /// Starts `count` servers in parallel and blocks until each of them answers. Throws `std::runtime_error` if
  /// no server program is found or a server does not start, and `std::invalid_argument` if `count` is below
  /// 1.
  explicit LocalNodes(int count, LocalNodesOptions options = {});
  ~LocalNodes();
  LocalNodes(const LocalNodes&) = delete;
  LocalNodes& operator=(const LocalNodes&) = delete;

  [[nodiscard]] int size() const noexcept;
  [[nodiscard]] std::uint16_t port(int node) const;
  [[nodiscard]] std::string url(int node) const;  ///< `redis://127.0.0.1:PORT`, or `rediss://…`
  [[nodiscard]] std::vector<std::string> urls() const;
  /// All URLs as one text, for `REDLOCK_NODES` in the environment of another process.
  [[nodiscard]] std::string url_list() const;
  /// Trusts the servers' certificates, and has one for the client. Files of it are there as long as this object. Empty
  /// without `LocalNodesOptions::tls`.
  [[nodiscard]] TlsOptions tls_options() const;
  [[nodiscard]] std::string socket_path(int node) const;  ///< The path of its unix socket.
  [[nodiscard]] bool running(int node) const;             ///< True unless it is dead; true if paused.
  [[nodiscard]] pid_t pid(int node) const;                ///< Throws `std::logic_error` if dead.

  /// Kills the server with SIGKILL. When this returns, the process is gone and its connections are broken.
  /// Does nothing if it is dead.
  void kill(int node);

  /// Stops the server with SIGSTOP. When this returns, none of its threads runs. Does nothing if it is
  /// paused; throws `std::logic_error` if it is dead.
  void pause(int node);

  /// Continues the server with SIGCONT; it then processes everything that arrived in the meantime. Does
  /// nothing if it is running; throws `std::logic_error` if it is dead.
  void resume(int node);

  /// Kills the node unless it is dead, starts it without data, and blocks until it answers. Throws
  /// `std::runtime_error` if it does not answer; the node is then dead.
  void restart_empty(int node);

  /// As `restart_empty`, but with its data. Throws `std::logic_error` without `LocalNodesOptions::persist`.
  void restart_with_data(int node);

 private:
  std::unique_ptr<detail::LocalServers> servers_;
};

}  // namespace redlock::testing
