// Checks options and resources, and derives times and keys from them.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "redlock/clock.hpp"
#include "redlock/lease.hpp"
#include "redlock/options.hpp"

namespace redlock {
inline namespace v1 {
namespace detail {

/// The node timeout for long ttls and for calls without a ttl.
inline constexpr Clock::duration default_node_timeout = std::chrono::milliseconds{250};

/// The times of one lock, checked and with all defaults filled in.
struct Timing {
  Clock::duration ttl{};           ///< Whole milliseconds, because the servers count in them.
  Clock::duration lock_delay{};    ///< Whole milliseconds.
  Clock::duration at_least{};      ///< Whole milliseconds, from 0 to the ttl.
  Clock::duration drift{};         ///< From 0 to less than the ttl.
  Clock::duration node_timeout{};  ///< Longer than zero.
  Clock::duration fence_memory{};  ///< Whole milliseconds; zero means forever.

  friend bool operator==(const Timing&, const Timing&) = default;
};

// All functions throw `Error` with `Errc::invalid_argument`. Its message says what was given and what is allowed.

void check_max_ttl(Duration);

/// Refuses options that are invalid for every lock.
void check(const Options&);

/// Returns the options for a single node, with the restart guard off. Refuses options that need the guard.
[[nodiscard]] Options unguarded(Options);

/// The key of the resource's lock. Refuses resources of an invalid length, and keys that could be mistaken for one of the
/// library's own, no matter how the prefix and the resource share the name.
[[nodiscard]] std::string lock_key(std::string_view prefix, std::string_view resource);

/// The times of a lock. Precondition: `check` accepted the options.
[[nodiscard]] Timing timing(const Options&, const LockOptions&);

void check_label(std::string_view);

/// Why a lock is to be given up.
void check_why(std::string_view);

/// From whom a lock is to be taken.
void check_broken(std::span<const std::string_view> owner_values);

/// The number of seats of the semaphore; zero for a lock. The names of all seats have to be valid resources.
[[nodiscard]] std::size_t seats_of(std::string_view resource, const LockOptions&);
/// Refuses options that a shared lock cannot have.
void check_shared(const LockOptions&);
/// Calls for several locks take no seats.
void check_has_no_seats(const LockOptions&);
/// Returns the options. Refuses those of a lock that can have several holders. `kind` begins the message: `a mutex`.
[[nodiscard]] LockOptions for_one_holder(LockOptions, std::string_view kind);

/// How long a call with these options waits for nodes that have said when they vote again; none: as long as for anything
/// else.
[[nodiscard]] std::optional<Clock::duration> node_wait(const LockOptions&);

/// The same options for a call that waits for no node, if it makes one attempt, or for as long as for anything else.
[[nodiscard]] LockOptions without_node_wait(LockOptions);

/// Refuses an owner value and a token that a lock with these options cannot have.
void check_adoption(const Handover&, const LockOptions&);

}  // namespace detail
}  // namespace v1
}  // namespace redlock
