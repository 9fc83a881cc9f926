// The state of a lock, derived from the reports of its nodes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "redlock/node_report.hpp"

namespace redlock::tool {

/// Who holds a resource, according to a majority of the nodes.
struct LockState {
  /// *Shared*: see `Holder::is_shared`. *Kept*: see `Holder::is_kept`.
  enum class Kind : std::uint8_t { held, shared, kept, free, unknown };

  Kind kind = Kind::unknown;
  std::string owner;  ///< Set if held.
  std::chrono::nanoseconds
      ttl;  ///< If a majority has a value: time until a majority no longer has it, unless extended.
};

/// `held`, `shared`, `kept`, `free` or `unknown`.
[[nodiscard]] std::string_view to_string(LockState::Kind) noexcept;

/// Returns true if a majority has a value, which ends after `LockState::ttl`.
[[nodiscard]] bool has_life(const LockState&) noexcept;

/// Returns true if the node answered whether it has a value.
[[nodiscard]] bool has_voted(const NodeReport&);

/// The counter that more than half of the nodes with a copy of this owner have; the greatest of them if there is none.
[[nodiscard]] std::optional<FencingToken> token_of(std::span<const NodeReport> nodes,
                                                   const std::string& owner);

/// How many nodes cannot answer as they are configured.
[[nodiscard]] std::size_t misconfigured(std::span<const NodeReport> nodes);

/// When a majority of the nodes votes, at the earliest: zero if it does now. Returns none if too few nodes vote or have
/// said when they vote again.
[[nodiscard]] std::optional<std::chrono::nanoseconds> majority_votes_in(std::span<const NodeReport> nodes);

/// Returns *free* if no owner value can have a majority, whatever the silent nodes hold, and *unknown* if the
/// silent nodes could make the difference.
[[nodiscard]] LockState lock_state_of(std::span<const NodeReport> nodes);

/// What there is to say of a lock that is kept: `kept by at_least, free in 12 s`.
[[nodiscard]] std::string describe_kept(const LockState&);

/// Returns one or two sentences for people: who holds the lock, and for how long too few nodes vote.
[[nodiscard]] std::string describe(const LockState&, const std::string& resource,
                                   std::span<const NodeReport> nodes);

}  // namespace redlock::tool
