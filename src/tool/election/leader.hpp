// redlock leader: who leads.
#pragma once

#include <string>

#include "tool/nodes.hpp"

namespace redlock::tool {

struct LeaderArguments {
  NodeChoice nodes;
  std::string election;
  bool json = false;   ///< One object in each line.
  bool watch = false;  ///< Go on with a line for each new leader.
};

/// Prints who leads to stdout, and returns the exit code: `conflict` if nobody does. With `watch`, prints a line for each
/// new leader, or none, until SIGINT or SIGTERM, another signal that ends a wait, or until nobody reads stdout any more.
/// Changes nothing. Throws `redlock::Error`; without `watch` also if too few nodes answer.
int show_leader(const LeaderArguments&);

}  // namespace redlock::tool
