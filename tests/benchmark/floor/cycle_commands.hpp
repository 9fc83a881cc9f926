// The two commands of a lock and release cycle, as bytes.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace redlock::benchmark {

/// The ttl of every contestant.
inline constexpr std::chrono::milliseconds ttl = std::chrono::seconds{30};

/// `SET name owner NX PX ttl`, or the script that does so where restarts are guarded, and the compare-and-delete of it,
/// formatted once: a cycle only puts its name and its owner value, drawn from the kernel, in their places.
class CycleCommands {
 public:
  /// `marker`: what the nodes' markers begin with; empty: nobody guards restarts.
  CycleCommands(const std::string& release_sha, const std::string& marker);

  /// A new cycle: returns its lock command. `resource` has `ResourceName::size` bytes.
  std::string_view lock(std::string_view resource);
  /// The release of what `lock` locked.
  [[nodiscard]] std::string_view release() const noexcept { return release_; }

 private:
  std::string lock_;
  std::string release_;
  std::size_t lock_name_, lock_owner_, release_name_, release_owner_;  // where they begin
};

}  // namespace redlock::benchmark
