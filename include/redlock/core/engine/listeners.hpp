// The settings of the listeners.
#pragma once

#include <vector>

#include "redlock/core/node/session.hpp"

namespace redlock::inline v1::core {

/// One listener for each node, with the same server, login and timeouts as its connection for commands.
[[nodiscard]] inline std::vector<Session::Settings> listeners_of(std::vector<Session::Settings> nodes) {
  for (Session::Settings& settings : nodes) {
    settings.seed = ~settings.seed;
    settings.purpose = Purpose::listening;
  }
  return nodes;
}

}  // namespace redlock::inline v1::core
