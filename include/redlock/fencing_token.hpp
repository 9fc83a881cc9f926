// A number that a resource can refuse old holders by.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>

#include "redlock/export.hpp"

namespace redlock {
inline namespace v1 {

/// Greater for every later acquisition of the same resource, on whatever client, as long as a majority of the nodes keeps
/// its counters: a resource that remembers the
/// greatest it has seen and refuses smaller ones cannot be changed by a holder who lost the lock and does not know.
/// See docs/fencing.md.
///
/// Ordered, not consecutive, below 2^53. Extending a lease keeps its token.
class FencingToken {
 public:
  /// No token: smaller than every real one.
  constexpr FencingToken() noexcept = default;
  constexpr explicit FencingToken(std::uint64_t value) noexcept : value_{value} {}

  /// Whether there is one.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return value_ != 0; }
  /// 0: no token.
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

  friend constexpr auto operator<=>(FencingToken, FencingToken) noexcept = default;

 private:
  std::uint64_t value_ = 0;
};

/// The number, as `value()`.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, FencingToken);

}  // namespace v1
}  // namespace redlock

template <>
struct std::hash<redlock::FencingToken> {
  [[nodiscard]] std::size_t operator()(redlock::FencingToken token) const noexcept {
    return std::hash<std::uint64_t>{}(token.value());
  }
};
