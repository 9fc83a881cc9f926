// The arithmetic of majorities and of validity.
#pragma once

#include <cstddef>

#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::core {

using NodeIndex = std::size_t;

/// A majority of the *configured* nodes. Counted over those in reach, two clients with different views of the
/// network would both win.
[[nodiscard]] constexpr std::size_t quorum(std::size_t configured) noexcept { return configured / 2 + 1; }

/// How many nodes may be missing without making a majority impossible.
[[nodiscard]] constexpr std::size_t tolerated(std::size_t configured) noexcept {
  return configured - quorum(configured);
}

/// Until when the holder may rely on a lock whose first byte was written at `begun` or later: the nodes count
/// their ttl from a moment not before `begun`, on clocks that may run faster by at most `drift` per ttl.
[[nodiscard]] constexpr Time valid_until(Time begun, Span ttl, Span drift) noexcept {
  return later(begun, ttl - drift);
}

}  // namespace redlock::inline v1::core
