// The server processes behind a LocalNodes.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "redlock/testing/local_nodes.hpp"
#include "testing/local_server.hpp"
#include "testing/process_group.hpp"

namespace redlock::testing::detail {

/// Servers in one process group. In a child of fork() the destructor leaves them alone.
class LocalServers {
 public:
  LocalServers(int count,
               LocalNodesOptions options);  ///< Starts the servers; throws unless all of them answer.
  ~LocalServers();
  LocalServers(const LocalServers&) = delete;
  LocalServers& operator=(const LocalServers&) = delete;

  LocalServer& at(int node);  ///< Throws std::out_of_range.
  [[nodiscard]] int size() const noexcept { return static_cast<int>(servers_.size()); }
  [[nodiscard]] const LocalNodesOptions& options() const noexcept { return options_; }
  [[nodiscard]] const TlsOptions& tls_options() const noexcept { return tls_options_; }
  /// Hold it while you use a server. Ports and paths need no lock, as they never change.
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }

  void restart(LocalServer&, bool with_data);

 private:
  std::vector<std::string> make_certificates();
  void start_all();
  void kill_all() noexcept;
  void await(LocalServer&, std::chrono::steady_clock::time_point deadline);
  [[noreturn]] void report(LocalServer&, const std::string& what);

  const LocalNodesOptions options_;
  std::mutex mutex_;
  ProcessGroup group_;
  ServerPlan plan_;
  TlsOptions tls_options_;
  std::vector<LocalServer> servers_;
};

}  // namespace redlock::testing::detail
