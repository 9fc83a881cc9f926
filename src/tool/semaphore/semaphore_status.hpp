// redlock status --seats: who has the seats of a semaphore.
#pragma once

#include "tool/status.hpp"

namespace redlock::tool {

/// Prints the seats that are not free, and who waits for one, to stdout. Returns the exit code. Throws `redlock::Error`.
/// Precondition: `StatusArguments::seats` is set.
int semaphore_status(const StatusArguments&);

}  // namespace redlock::tool
