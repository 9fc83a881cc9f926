// What an acquisition with a fencing token sends in addition to its claim.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace redlock::inline v1::core {

/// The fencing counter, which every node keeps next to the lock's key.
struct Fence {
  std::string counter_key;
  std::uint64_t proposal = 0;          // the new value of the counter, unless it has reached that already
  std::chrono::milliseconds memory{};  // how long an idle counter is kept; 0 means forever
};

}  // namespace redlock::inline v1::core
