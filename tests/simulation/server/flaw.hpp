// Deliberate flaws of the simulated server.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace redlock::simulation {

/// Tests add a flaw to show that the comparison with a real server finds it.
enum class Flaw : std::uint8_t {
  none,
  short_numbers,  // numbers of a script become arguments by %.14g, as Lua writes them
  nil_as_empty,   // a script gets an empty string for a missing value
  no_expiry,      // keys never expire
  pcall_raises,   // redis.pcall behaves like redis.call
};

/// Their names on the command line.
inline constexpr std::array<std::pair<std::string_view, Flaw>, 4> flaw_names{{
    {"short-numbers", Flaw::short_numbers},
    {"nil-as-empty", Flaw::nil_as_empty},
    {"no-expiry", Flaw::no_expiry},
    {"pcall-raises", Flaw::pcall_raises},
}};

}  // namespace redlock::simulation
