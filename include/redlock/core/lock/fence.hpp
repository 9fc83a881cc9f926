// What an acquisition with a fencing token says to the nodes beside its claim.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace redlock::inline v1::core {

/// A counter on every node, beside the lock's key.
struct Fence {
  std::string counter_key;
  std::uint64_t proposal = 0;          // what the counter becomes, unless it is there already
  std::chrono::milliseconds memory{};  // how long an idle counter is kept; 0: for ever
};

}  // namespace redlock::inline v1::core
