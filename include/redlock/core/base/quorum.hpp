// Arithmetic of majorities and of validity.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::core {

using NodeIndex = std::size_t;

/// A set of nodes with one bit for each; there are at most 31 nodes.
using NodeSet = std::uint32_t;
[[nodiscard]] constexpr NodeSet set_of(NodeIndex node) noexcept { return NodeSet{1} << node; }

/// A majority of the *configured* nodes. If only reachable nodes counted, two clients with different views of the
/// network could both acquire the lock.
[[nodiscard]] constexpr std::size_t quorum(std::size_t configured) noexcept { return configured / 2 + 1; }

/// How many nodes may fail before a majority becomes impossible.
[[nodiscard]] constexpr std::size_t tolerated(std::size_t configured) noexcept {
  return configured - quorum(configured);
}

/// The `wanted`th smallest of the times; none if there are fewer.
[[nodiscard]] inline std::optional<Span> smallest(std::vector<Span>& times, std::size_t wanted) {
  if (times.size() < wanted) return std::nullopt;
  const auto chosen = times.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
  std::nth_element(times.begin(), chosen, times.end());
  return *chosen;
}

/// Until when the holder may rely on a lock whose command was sent at `begun` or later. The nodes start to count the
/// ttl no earlier than `begun`, and their clocks gain at most `drift` per ttl.
[[nodiscard]] constexpr Time valid_until(Time begun, Span ttl, Span drift) noexcept {
  return later(begun, ttl - drift);
}

}  // namespace redlock::inline v1::core
