// A number that lets a resource refuse former holders.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>

#include "redlock/export.hpp"

namespace redlock {
inline namespace v1 {

/// A number that grows with every acquisition of the same resource, by any client, as long as a majority of
/// the nodes keeps its counters. If a resource remembers the greatest token it has seen and refuses smaller
/// ones, a holder that lost the lock without noticing cannot change the resource any more. See
/// docs/fencing.md.
///
/// Tokens are ordered but not consecutive, and below 2^53. Extending a lease keeps its token.
class FencingToken {
 public:
  /// No token. Compares less than every real token.
  constexpr FencingToken() noexcept = default;
  constexpr explicit FencingToken(std::uint64_t value) noexcept : value_{value} {}

  /// Returns true unless this is "no token".
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return value_ != 0; }
  /// Returns the number; 0 for "no token".
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

  friend constexpr auto operator<=>(FencingToken, FencingToken) noexcept = default;

 private:
  std::uint64_t value_ = 0;
};

/// Writes `value()`.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, FencingToken);

}  // namespace v1
}  // namespace redlock

template <>
struct std::hash<redlock::FencingToken> {
  [[nodiscard]] std::size_t operator()(redlock::FencingToken token) const noexcept {
    return std::hash<std::uint64_t>{}(token.value());
  }
};
