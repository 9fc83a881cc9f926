// One Redis server process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "testing/loopback_port.hpp"

namespace redlock::testing::detail {

/// The settings that all servers of one LocalNodes share.
struct ServerPlan {
  std::string program;
  std::vector<std::string> arguments;
  std::string password;
  bool speaks_tls = false;
  pid_t group = 0;
};

/// A server with its own port and folder. Not thread safe. The owner must kill it: there is no destructor,
/// because it must do nothing in a child of fork().
class LocalServer {
 public:
  explicit LocalServer(std::string folder) : folder_{std::move(folder)} {}

  [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }
  [[nodiscard]] std::string socket_path() const { return folder_ + "/socket"; }
  [[nodiscard]] std::string log_path() const { return folder_ + "/log"; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }  ///< 0 when dead.

  void start(const ServerPlan&);  ///< Does not wait for the server. Precondition: dead.
  /// Returns true if the server is up. Asks over the unix socket: no other process can answer there, and
  /// Redis opens it after the TCP port.
  [[nodiscard]] bool answers(const ServerPlan&) const;
  /// Returns false if the process has ended, even by itself.
  bool running() noexcept;

  void kill() noexcept;
  void pause();
  void resume();
  void forget_data();  ///< Precondition: dead.

 private:
  std::string folder_;
  LoopbackPort port_;
  pid_t pid_ = 0;
  bool paused_ = false;
};

}  // namespace redlock::testing::detail
