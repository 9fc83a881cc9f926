// Words that commands are made of, with those that they refuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "simulation/conformance/dice.hpp"

namespace redlock::simulation {

/// Few, so that commands meet. One is empty, and one is not text.
inline constexpr std::size_t key_count = 8;
[[nodiscard]] std::string key_name(std::size_t number);
[[nodiscard]] std::string any_key(Dice&);

/// Texts, numbers at the limits of integers and of doubles, what looks like one.
[[nodiscard]] std::string any_value(Dice&);
/// Milliseconds that outlast the comparison, so that its length decides nothing.
[[nodiscard]] std::string long_life(Dice&);
/// Now and then none at all, or one at the limits.
[[nodiscard]] std::string any_life(Dice&);
[[nodiscard]] std::string any_index(Dice&);
[[nodiscard]] std::string any_owner(Dice&);
/// Token proposals and counters: around the clock, far from it, none at all.
[[nodiscard]] std::string any_proposal(Dice&, std::int64_t now_us);
/// In whatever case.
[[nodiscard]] std::string any_case(Dice&, std::string word);

}  // namespace redlock::simulation
