// What options and resources may be, and the times that follow from them. Internal.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "redlock/clock.hpp"
#include "redlock/fencing_token.hpp"
#include "redlock/options.hpp"

namespace redlock {
inline namespace v1 {
namespace detail {

/// The node timeout of calls that have no ttl, and of long ttls.
inline constexpr Clock::duration default_node_timeout = std::chrono::milliseconds{250};

/// The times of one lock, checked and complete.
struct Timing {
  Clock::duration ttl{};           ///< Whole milliseconds, as the servers take it.
  Clock::duration drift{};         ///< From 0 to less than the ttl.
  Clock::duration node_timeout{};  ///< Longer than zero.
  Clock::duration fence_memory{};  ///< Whole milliseconds; zero: for ever.

  friend bool operator==(const Timing&, const Timing&) = default;
};

// All of them throw `Error` with `Errc::misconfigured`, which says what was given and what is allowed.

/// Refuses options that cannot be right with any lock.
void check(const Options&);

/// For a single node: without the restart guard. Refuses options that ask for it.
[[nodiscard]] Options unguarded(Options);

/// How long a node that lost its data gets no vote.
[[nodiscard]] std::chrono::milliseconds quarantine(const Options&);

/// The key of the resource's lock. Refuses resources of the wrong length, and keys that could be taken for
/// one of the library's own, however prefix and resource share the name.
[[nodiscard]] std::string lock_key(std::string_view prefix, std::string_view resource);

/// The times of a lock with these options, which have passed `check`.
[[nodiscard]] Timing timing(const Options&, const LockOptions&);

/// Refuses what cannot be the owner value and token of a lock with these options.
void check_adoption(std::string_view owner_value, FencingToken, const LockOptions&);

}  // namespace detail
}  // namespace v1
}  // namespace redlock
