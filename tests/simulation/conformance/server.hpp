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

/// A Redis server started for the comparison, and one connection to it. Throws `std::runtime_error` if it does not answer.
class RealServer {
 public:
  /// `program`: a path or a name; empty for the one that the tests use.
  explicit RealServer(const std::string& program);

  /// Writes all commands at once and reads their replies.
  std::vector<core::Reply> ask(std::span<const std::vector<std::string>> commands);
  core::Reply ask(std::vector<std::string> command);
  void set_mode(Server::Mode);

  /// Whether the server has the simulated version.
  [[nodiscard]] bool is_redis_7_0();

 private:
  void send(std::string_view bytes);
  void receive();

  testing::LocalNodes nodes_;
  testing::detail::Fd socket_;
  redlock::detail::Reader reader_;
};

}  // namespace redlock::simulation
