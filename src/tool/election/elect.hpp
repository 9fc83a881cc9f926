// redlock elect: a command that runs while this candidate leads.
#pragma once

#include "tool/run/run.hpp"

namespace redlock::tool {

/// Runs the command under the lock as `run` does, and again after each loss of the lock, until the command ends by itself or a
/// signal ends it. Once the command has run, waits also while too few nodes answer, and tries again every second. Throws as
/// `run` does.
[[nodiscard]] Ending elect(const RunArguments&);

}  // namespace redlock::tool
