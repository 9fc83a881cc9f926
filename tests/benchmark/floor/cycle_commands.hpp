// The two commands of a lock and release cycle, as bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/lock/claim.hpp"

namespace redlock::benchmark {

/// The ttl of every contestant.
inline constexpr std::chrono::milliseconds ttl = std::chrono::seconds{30};

inline constexpr std::size_t owner_digits = 40;
/// Draws the digits of an owner value, with the kernel's random number generator.
void write_new_digits(char* to);

/// What the commands of the library have beside names and digits.
struct Wording {
  std::string owner_end{};               ///< Of owner values: the label and the time.
  std::vector<std::string> lock_ends{};  ///< Of lock commands, by node. None without a restart guard.
  bool is_fenced = false;                ///< The lock has a token.
  bool is_shared = false;                ///< The lock is that of a reader, with a token.
  bool is_seat = false;                  ///< The resource is a semaphore.
};

/// What the library would claim with this wording: without owner value, and with a proposal for the token, if there is one.
/// `seat`: of a semaphore.
core::Claim claim_of(const Wording& wording, std::string_view resource, std::uint64_t proposal,
                     std::size_t seat);
/// Microseconds since 1970. They have 16 digits until 2286.
std::uint64_t new_proposal() noexcept;

/// `SET name owner NX PX ttl`, or the script that replaces it with a restart guard, a token or readers, and the script that
/// releases the lock: the same bytes as the library sends. Both are formatted once. A cycle only writes its resource name, its
/// owner value, which the kernel's random number generator draws, and the time as proposal for the token into their places.
class CycleCommands {
 public:
  explicit CycleCommands(Wording wording);

  /// Begins a cycle. `resource` has `ResourceName::size` bytes.
  void begin(std::string_view resource);
  /// The lock command of the cycle: this, then its end.
  [[nodiscard]] std::string_view lock() const noexcept { return lock_; }
  [[nodiscard]] std::string_view lock_end(std::size_t node) const noexcept {
    return lock_ends_.empty() ? std::string_view{} : lock_ends_[node];
  }
  /// The release of the cycle.
  [[nodiscard]] std::string_view release() const noexcept { return release_; }

 private:
  std::string lock_;
  std::vector<std::string> lock_ends_;
  std::string release_;
  std::vector<std::size_t> lock_names_;  // offsets in the commands
  std::vector<std::size_t> release_names_;
  std::size_t lock_owner_, release_owner_;
  std::size_t proposal_;  // none without a token
};

}  // namespace redlock::benchmark
