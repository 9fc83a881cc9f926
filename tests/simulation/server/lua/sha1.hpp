// SHA-1, which identifies scripts.
#pragma once

#include <string>
#include <string_view>

namespace redlock::simulation {

/// Forty lower-case hex digits.
[[nodiscard]] std::string sha1_hex(std::string_view text);

}  // namespace redlock::simulation
