// Durations for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace redlock::tool {

/// Returns a rounded-down duration for people: `850 ms`, `29.4 s`, `3 min 20 s`.
[[nodiscard]] std::string readable(std::chrono::nanoseconds time);

/// The whole milliseconds of a time, for JSON.
[[nodiscard]] constexpr std::int64_t milliseconds_of(std::chrono::nanoseconds time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).count();
}

}  // namespace redlock::tool
