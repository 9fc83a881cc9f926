// redlock status: who holds a lock.
#pragma once

#include <cstddef>
#include <string>

#include "tool/nodes.hpp"

namespace redlock::tool {

struct StatusArguments {
  NodeChoice nodes;
  std::string resource;
  std::size_t seats = 0;  ///< Of the semaphore of this name; 0: it is a lock.
  bool json = false;
};

/// Prints the status of the resource to stdout and returns the exit code. Throws `redlock::Error`.
int status(const StatusArguments&);

}  // namespace redlock::tool
