// Takes the locks for a command.
#pragma once

#include <functional>
#include <stop_token>
#include <string_view>

#include "redlock/redlock.hpp"
#include "tool/run/progress.hpp"
#include "tool/run/run.hpp"

namespace redlock::tool {

/// Takes the locks of all resources, and renews them from then on. Blocks while somebody else has one of them, as the arguments
/// say, and while too few nodes vote but enough of them have said when they vote again, for at most
/// `RunArguments::node_wait`. Says what it waits for.
///
/// `on_revoke`: what to do when somebody asks for a lock; may be null.
///
/// Returns no leases if somebody else has a lock, or when a stop was requested. Throws `Error` for all other failures.
Leases acquire(Redlock&, const RunArguments&, std::function<void(std::string_view)> on_revoke, Progress&,
               const std::stop_token&);

}  // namespace redlock::tool
