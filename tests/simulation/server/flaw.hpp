// Ways to be wrong on purpose.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace redlock::simulation {

/// What a simulated server does wrong, so that a test sees that the comparison with a real one finds it.
enum class Flaw : std::uint8_t {
  none,
  short_numbers,  // a script's numbers become arguments by %.14g, as Lua itself writes them
  nil_as_empty,   // a missing value is an empty string to a script
  no_expiry,      // keys outlive their time
  pcall_raises,   // redis.pcall is redis.call
};

/// As they are named on a command line.
inline constexpr std::array<std::pair<std::string_view, Flaw>, 4> flaw_names{{
    {"short-numbers", Flaw::short_numbers},
    {"nil-as-empty", Flaw::nil_as_empty},
    {"no-expiry", Flaw::no_expiry},
    {"pcall-raises", Flaw::pcall_raises},
}};

}  // namespace redlock::simulation
