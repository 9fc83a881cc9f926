// Tests that can run for longer by hand.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace redlock::testing {

/// The number in this environment variable, or `otherwise`.
[[nodiscard]] inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text ? std::stoull(text) : otherwise;
}

}  // namespace redlock::testing
