// Random words of commands, including invalid ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "simulation/conformance/random_source.hpp"

namespace redlock::simulation {

/// Few keys, so that commands affect each other. One is empty, and one is not text.
inline constexpr std::size_t key_count = 8;
[[nodiscard]] std::string key_name(std::size_t number);
[[nodiscard]] std::string any_key(RandomSource&);

/// Texts, numbers at the limits of integers and doubles, and texts that look like numbers.
[[nodiscard]] std::string any_value(RandomSource&);
/// A ttl in milliseconds that outlasts the comparison, so that the result does not depend on its duration.
[[nodiscard]] std::string long_life(RandomSource&);
/// Sometimes an invalid ttl, or one at the limits.
[[nodiscard]] std::string any_life(RandomSource&);
[[nodiscard]] std::string any_index(RandomSource&);
[[nodiscard]] std::string any_owner(RandomSource&);
/// Token proposals and counters: near the clock, far from it, or invalid.
[[nodiscard]] std::string any_proposal(RandomSource&, std::int64_t now_us);
/// The word in mixed case.
[[nodiscard]] std::string any_case(RandomSource&, std::string word);

}  // namespace redlock::simulation
