// redlock check: whether a request comes from the holder of a lock.
#pragma once

#include <string>

#include "tool/nodes.hpp"

namespace redlock::tool {

struct CheckArguments {
  NodeChoice nodes;
  std::string sequencer;
  bool json = false;
};

/// Prints whether the lease that the sequencer names is held: valid, stale or unknown, and in the last case to stderr what each
/// node says. Returns the exit code: `conflict` if it is stale. Changes nothing. Throws `redlock::Error`
/// (invalid_argument) if the text is not a sequencer.
int check(const CheckArguments&);

}  // namespace redlock::tool
