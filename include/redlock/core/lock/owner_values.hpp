// The owner values of one call.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/base/hex.hpp"
#include "redlock/core/wire/keys.hpp"

namespace redlock::inline v1::core {

/// Makes an owner value for each attempt of a call: 40 hex digits, a label for people, the time of day in seconds, and
/// `leader_mark` if the lock is that of an election. The digits are drawn once for a call, because core code has no source of
/// randomness; each further attempt adds 1 to the last eight of the first sixteen. So no two attempts have the same owner value,
/// or the same id (`holder_id`).
class OwnerValues {
 public:
  /// `drawn`: 40 random hex digits.
  OwnerValues(std::string drawn, std::string_view label) : beginning_{std::move(drawn)} {
    beginning_.reserve(beginning_.size() + label.size() + 3);
    beginning_.append(" ").append(label).append(" @");
  }

  /// The call is for the lock of an election.
  void mark_leader() noexcept { mark_ = leader_mark; }

  /// Returns the owner value of the next attempt, which begins at this time of day.
  [[nodiscard]] std::string next(std::chrono::microseconds time_of_day) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time_of_day).count();
    const std::string end = std::to_string(std::max<std::int64_t>(seconds, 0));
    std::string value;
    value.reserve(beginning_.size() + end.size() + mark_.size());
    value.append(beginning_).append(end).append(mark_);
    count_up();
    return value;
  }

 private:
  static constexpr std::size_t counter_begin = 8;
  static constexpr std::size_t counter_end = id_size;

  void count_up() noexcept {
    for (std::size_t at = counter_end; at > counter_begin; --at) {
      char& digit = beginning_[at - 1];
      if (digit != lower_hex.back()) {
        digit = lower_hex[lower_hex.find(digit) + 1];
        return;
      }
      digit = lower_hex.front();
    }
  }

  std::string beginning_;  // of the next owner value: all that comes before the seconds
  std::string_view mark_;  // comes after them
};

}  // namespace redlock::inline v1::core
