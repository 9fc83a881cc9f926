// How a connection to a node is made, and how it is closed.
#pragma once

#include <cstdint>
#include <string>

#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/handshake.hpp"
#include "redlock/login/secret.hpp"

namespace redlock::inline v1::core {

struct SessionSettings {
  std::string name;  // the endpoint without credentials, for messages
  Login login;
  Span connect_timeout{};
  Span silence{};  // give up the connection if a command stays unanswered for this long
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::commands;
  std::string late = "no connection within the connect timeout";  // the message if none was made in time
  std::string look{};  // the command that reads the node's marker; empty if restarts are not guarded
};

/// How to close a connection: either at once, or gracefully: send the rest, shut down our direction and read to the end.
/// Closing with unread replies would send RST, and the server might drop our last releases.
struct SessionClosing {
  bool graceful;
  redlock::detail::WipedString unsent;
};

}  // namespace redlock::inline v1::core
