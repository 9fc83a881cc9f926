// Spans of time as people write and read them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace redlock::tool {

/// `250ms`, `30s`, `1.5m`, `2h`. Throws `std::invalid_argument` that says what is allowed, also for negative ones.
[[nodiscard]] std::chrono::nanoseconds parse_time(std::string_view text);

/// Seconds, with or without a fraction, as flock(1) takes them; a unit may follow as above.
[[nodiscard]] std::chrono::nanoseconds parse_seconds(std::string_view text);

/// For people, rounded: `850 ms`, `29.4 s`, `3 min 20 s`.
[[nodiscard]] std::string readable(std::chrono::milliseconds time);

}  // namespace redlock::tool
