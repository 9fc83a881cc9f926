// What an acquisition with a fencing token says to the nodes beside its claim.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::inline v1::core {

/// A counter on every node, beside the lock's key.
struct Fence {
  std::string counter_key;
  std::uint64_t proposal = 0;          // what the counter becomes, unless it is there already
  std::chrono::milliseconds memory{};  // how long an idle counter is kept; 0: for ever
};

/// Whether Redis Cluster hashes only a part of this key.
[[nodiscard]] inline bool has_hash_tag(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return false;
  const std::size_t close = key.find('}', open);
  return close != std::string_view::npos && close > open + 1;
}

/// The counter of a lock: of no two locks the same. A Cluster keeps both in one slot, but for keys with a `}` and no hash tag.
[[nodiscard]] inline std::string counter_key(std::string_view lock_key) {
  if (has_hash_tag(lock_key)) return std::string{"redlock:ft:"}.append(lock_key);
  return std::string{"redlock:f:{"}.append(lock_key).append("}");
}

}  // namespace redlock::inline v1::core
