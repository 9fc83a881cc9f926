// Questions to one server over a connection of their own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/connection.hpp"
#include "redlock/clock.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/endpoint.hpp"

namespace redlock::tool {

/// A connection for one thread. Calls block, never beyond the time that they are given. Whatever the server sends costs
/// bounded memory.
class Dialogue {
 public:
  explicit Dialogue(Endpoint endpoint) : connection_{std::move(endpoint)} {}

  /// Returns whether the connection was made in time; else `trouble()` says why not.
  bool connect(Clock::time_point until);

  /// Sends commands, and returns their `count` replies. Returns fewer of them if the server does not answer in time or
  /// answers wrongly; then `trouble()` says why, and there must be no further call.
  std::vector<core::Reply> ask(std::string commands, std::size_t count, Clock::time_point until);

  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }
  /// The IP address of the server; empty for a unix socket.
  [[nodiscard]] std::string address() const;

 private:
  [[nodiscard]] bool wait(bool has_unsent, Clock::time_point until);

  detail::Connection connection_;
  std::string trouble_;
};

}  // namespace redlock::tool
