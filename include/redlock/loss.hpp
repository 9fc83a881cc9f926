// Why a lease was lost.
#pragma once

#include <cstdint>
#include <string_view>

#include "redlock/export.hpp"

namespace redlock {
inline namespace v1 {

/// Why a lease was lost. Whatever it was: from then on others may have the lock.
enum class Loss : std::uint8_t {
  none,             ///< It was not.
  deadline_passed,  ///< Nobody extended it in time.
  no_quorum,        ///< It was to be extended, and until the deadline too few nodes answered.
  deleted,          ///< A majority can no longer have our value: keys were deleted, or nodes lost their data.
  taken,            ///< The same, and some nodes have somebody else's value.
  max_hold,         ///< `LockOptions::max_hold` was over.
  shut_down,        ///< `LockClient::shut_down` was called.
};

/// In words, for people.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Loss) noexcept;

}  // namespace v1
}  // namespace redlock
