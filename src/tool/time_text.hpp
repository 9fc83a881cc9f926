// Durations for people.
#pragma once

#include <chrono>
#include <string>

namespace redlock::tool {

/// Returns a rounded-down duration for people: `850 ms`, `29.4 s`, `3 min 20 s`.
[[nodiscard]] std::string readable(std::chrono::milliseconds time);

}  // namespace redlock::tool
