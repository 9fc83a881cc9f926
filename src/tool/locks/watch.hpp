// redlock watch: who holds a lock, as it changes.
#pragma once

#include <string>

#include "tool/nodes.hpp"

namespace redlock::tool {

struct WatchArguments {
  NodeChoice nodes;
  std::string resource;
  bool json = false;  ///< One object in each line.
};

/// Prints a line to stdout for the present state of the lock, and one for each change, until SIGINT or SIGTERM, another
/// signal that ends a wait, or until nobody reads stdout any more. Asks the
/// nodes ten times a second, so it does not see what was over sooner. Changes nothing. Returns the exit code. Throws
/// `redlock::Error`.
int watch_lock(const WatchArguments&);

}  // namespace redlock::tool
