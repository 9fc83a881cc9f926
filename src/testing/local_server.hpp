// One Redis server process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "testing/loopback_port.hpp"

namespace redlock::testing::detail {

/// What the servers of one LocalNodes have in common.
struct ServerPlan {
  std::string program;
  std::vector<std::string> arguments;
  std::string password;
  pid_t group = 0;
};

/// A server with a port and a folder of its own. Not thread safe. Its owner kills it: there is no destructor,
/// because in a child of fork() it must do nothing.
class LocalServer {
 public:
  explicit LocalServer(std::string folder) : folder_{std::move(folder)} {}

  [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }
  [[nodiscard]] std::string socket_path() const { return folder_ + "/socket"; }
  [[nodiscard]] std::string log_path() const { return folder_ + "/log"; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }  ///< 0 when dead.

  void start(const ServerPlan&);  ///< Returns at once. Requires: dead.
  /// Whether it has come up. Asked over the unix socket, which nobody else can answer, and which Redis opens
  /// after the TCP port.
  [[nodiscard]] bool answers(const ServerPlan&) const;
  /// Notices a process that ended by itself.
  bool running() noexcept;

  void kill() noexcept;
  void pause();
  void resume();
  void forget_data();  ///< Requires: dead.

 private:
  std::string folder_;
  LoopbackPort port_;
  pid_t pid_ = 0;
  bool paused_ = false;
};

}  // namespace redlock::testing::detail
