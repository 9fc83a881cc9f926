// The real server to compare with.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/reader.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "simulation/server/server.hpp"
#include "testing/fd.hpp"

namespace redlock::simulation {

/// A connection to the server. Throws `std::runtime_error` if the server does not answer.
class RealConnection {
 public:
  explicit RealConnection(std::uint16_t port);

  /// Writes all commands at once and reads one reply for each.
  std::vector<core::Reply> ask(std::span<const std::vector<std::string>> commands);
  core::Reply ask(std::vector<std::string> command);
  /// Sends a command, and returns all that arrives before the reply to a PING behind it.
  std::vector<core::Reply> say(const std::vector<std::string>& command);
  /// All that has arrived and nobody has read.
  std::vector<core::Reply> listen();

 private:
  void send(std::span<const std::vector<std::string>> commands);
  core::Reply next();
  void receive();

  testing::detail::Fd socket_;
  redlock::detail::Reader reader_;
};

/// A Redis server started for the comparison. Throws `std::runtime_error` if it does not start.
class RealServer {
 public:
  /// `program`: a path or a name; empty for the one that the tests use.
  explicit RealServer(const std::string& program);

  [[nodiscard]] RealConnection& connection() noexcept { return connection_; }
  /// Another connection, which subscribes to channels.
  [[nodiscard]] RealConnection& listener() noexcept { return listener_; }

  void set_mode(Server::Mode);
  void set_acl(const Acl&);

  /// Whether the server has the simulated version.
  [[nodiscard]] bool is_redis_7_0();

 private:
  void configure(std::span<const std::vector<std::string>> commands);

  testing::LocalNodes nodes_;
  RealConnection connection_;
  RealConnection listener_;
};

}  // namespace redlock::simulation
