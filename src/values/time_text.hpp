// Durations as text.
#pragma once

#include <string_view>

#include "redlock/clock.hpp"

namespace redlock::inline v1::detail {

/// Parses seconds, as in `30` or `0.5`, or a number with a unit: `250ms`, `30s`, `1.5m`, `2h`. For anything else, negative
/// values included, throws `std::invalid_argument` with a message that says what is allowed.
[[nodiscard]] Clock::duration parse_time(std::string_view text);

}  // namespace redlock::inline v1::detail
