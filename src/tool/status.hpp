// redlock status: who holds a lock.
#pragma once

#include <string>

#include "tool/nodes.hpp"

namespace redlock::tool {

struct StatusArguments {
  NodeChoice nodes;
  std::string resource;
  bool json = false;
};

/// Prints the status of the resource to stdout and returns the exit code. Throws `redlock::Error`.
int status(const StatusArguments&);

}  // namespace redlock::tool
