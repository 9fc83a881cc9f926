// The two commands of a lock and release cycle, as bytes.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace redlock::benchmark {

/// The ttl of every contestant.
inline constexpr std::chrono::milliseconds ttl = std::chrono::seconds{30};

/// `SET name owner NX PX ttl`, or the script that replaces it with a restart guard, and the
/// compare-and-delete script. Both are formatted once. A cycle only writes its resource name and its owner
/// value, which the kernel's random number generator draws, into their places.
class CycleCommands {
 public:
  /// `marker`: the beginning of the nodes' markers; empty without a restart guard.
  CycleCommands(const std::string& release_sha, const std::string& marker);

  /// Begins a cycle and returns its lock command. `resource` has `ResourceName::size` bytes.
  std::string_view lock(std::string_view resource);
  /// The release of the latest `lock`.
  [[nodiscard]] std::string_view release() const noexcept { return release_; }

 private:
  std::string lock_;
  std::string release_;
  std::size_t lock_name_, lock_owner_, release_name_, release_owner_;  // offsets in the commands
};

}  // namespace redlock::benchmark
