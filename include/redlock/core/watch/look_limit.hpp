// How many looks at keys the messages of one node may cause.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::core {

/// Counts the looks of one node, second by second.
class LookLimit {
 public:
  /// Returns false if the node has asked for too many looks within the current second: more than two at each watched
  /// key and 1000 others. An honest server reports at most one change for each read of a key, and one FLUSHALL for all
  /// keys.
  [[nodiscard]] bool allows(std::size_t looks, std::size_t keys, Time now) noexcept {
    if (now - began_ >= std::chrono::seconds{1}) {
      began_ = now;
      asked_ = 0;
      keys_ = 0;
    }
    asked_ += looks;
    keys_ = std::max(keys_, keys);
    return asked_ <= spare + 2 * keys_;
  }

 private:
  static constexpr std::size_t spare = 1000;

  Time began_{};
  std::size_t asked_ = 0;  // looks
  std::size_t keys_ = 0;   // the most that were watched
};

}  // namespace redlock::inline v1::core
