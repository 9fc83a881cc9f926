// Parses and prints durations.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace redlock::tool {

/// Parses `250ms`, `30s`, `1.5m` or `2h`. For anything else, negative values included, throws
/// `std::invalid_argument` with a message that says what is allowed.
[[nodiscard]] std::chrono::nanoseconds parse_time(std::string_view text);

/// Parses seconds, with or without a fraction, as flock(1) does. A unit may follow, as above.
[[nodiscard]] std::chrono::nanoseconds parse_seconds(std::string_view text);

/// Returns a rounded-down duration for people: `850 ms`, `29.4 s`, `3 min 20 s`.
[[nodiscard]] std::string readable(std::chrono::milliseconds time);

}  // namespace redlock::tool
