// redlock list: what is locked.
#pragma once

#include <string>

#include "tool/nodes.hpp"

namespace redlock::tool {

struct ListArguments {
  NodeChoice nodes;
  std::string prefix;  ///< Of the resources. Empty: all.
  bool json = false;   ///< One object in each line instead of a table.
};

/// Prints the locks to stdout, and to stderr which nodes do not answer. Returns `no_quorum` if these are too many: then
/// locks may be missing. Changes nothing. Throws `redlock::Error`.
int list(const ListArguments&);

}  // namespace redlock::tool
