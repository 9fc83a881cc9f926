// Randomness from the kernel: unlike a generator of our own it cannot repeat in a child of fork().
#pragma once

#include <cstdint>
#include <string>

namespace redlock::inline v1::detail {

/// 20 bytes as 40 hex digits: what proves ownership on the servers. Throws std::system_error.
[[nodiscard]] std::string random_owner_value();

/// For jitter. Throws std::system_error.
[[nodiscard]] std::uint64_t random_number();

}  // namespace redlock::inline v1::detail
