// redlock watch: who holds a lock, as it changes.
#pragma once

#include <cstddef>
#include <string>

#include "tool/nodes.hpp"

namespace redlock::tool {

struct WatchArguments {
  NodeChoice nodes;
  std::string resource;
  std::size_t seats = 0;  ///< Of the semaphore of this name: all of them are watched. 0: it is a lock.
  bool json = false;      ///< One object in each line.
};

/// Prints a line to stdout for the present state of the lock, or of each seat, and one for each change, until SIGINT or SIGTERM, another
/// signal that ends a wait, or until nobody reads stdout any more. Asks all nodes when one of them reports a change, and once
/// a second; ten times a second if one of them cannot report changes. So it does not see what was over sooner than it could
/// ask. Changes nothing. Returns the exit code. Throws `redlock::Error`.
int watch_lock(const WatchArguments&);

}  // namespace redlock::tool
