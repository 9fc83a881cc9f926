// A client that many threads use at once, without a pause.
#pragma once

#include <stop_token>

#include "chaos/worker/task.hpp"

namespace redlock::chaos {

/// Each thread takes one lock after the other, in all ways in which a call can wait for one, until it is stopped. The log gets
/// only a part of the locks: all would be too many to judge. Its numbers count the calls.
void lock_without_pause(const Task&, const std::stop_token&);

}  // namespace redlock::chaos
