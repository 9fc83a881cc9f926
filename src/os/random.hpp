// Random values from the kernel, which do not repeat in a child of fork().
#pragma once

#include <cstdint>
#include <string>

namespace redlock::inline v1::detail {

/// Returns 20 random bytes as 40 hex digits, for an owner value. Throws std::system_error.
[[nodiscard]] std::string random_owner_value();

/// Returns a random number, for jitter. Throws std::system_error.
[[nodiscard]] std::uint64_t random_number();

}  // namespace redlock::inline v1::detail
