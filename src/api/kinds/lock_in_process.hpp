// Locks a mutex that a child of fork() may find locked.
#pragma once

#include <mutex>

#include "api/client.hpp"

namespace redlock::inline v1::detail {

/// In a child of fork(), a thread of the parent may have had the mutex, and nobody will unlock it. Then the lock that is
/// returned does not own the mutex, and what it guards must not be used.
[[nodiscard]] inline std::unique_lock<std::mutex> lock_in_process(const Client& client, std::mutex& mutex) {
  if (client.is_of_this_process()) return std::unique_lock{mutex};
  return std::unique_lock{mutex, std::try_to_lock};
}

}  // namespace redlock::inline v1::detail
