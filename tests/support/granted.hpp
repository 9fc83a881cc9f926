// What a call for a lock returned, for tests that do not use the lock.
#pragma once

#include "redlock/lock_result.hpp"

namespace redlock::testing {

/// Takes a result without a name as well: the lock is released at the end of the statement.
[[nodiscard]] inline bool is_granted(const LockResult& result) noexcept { return result.has_value(); }

}  // namespace redlock::testing
