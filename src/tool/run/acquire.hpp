// Takes the lock for a command.
#pragma once

#include <stop_token>

#include "redlock/redlock.hpp"
#include "tool/run/progress.hpp"
#include "tool/run/run.hpp"

namespace redlock::tool {

/// Takes the lock, and renews it from then on. Blocks while somebody else has the lock, as the arguments say,
/// and while too few nodes vote but enough of them have said when they vote again, for at most
/// `RunArguments::node_wait`. Says what it waits for.
///
/// A stop request ends it with `cancelled`.
LockResult acquire(Redlock&, const RunArguments&, Progress&, const std::stop_token&);

}  // namespace redlock::tool
