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
  short_numbers,    // numbers of a script become arguments by %.14g, as Lua writes them
  nil_as_empty,     // a script gets an empty string for a missing value
  no_expiry,        // keys never expire
  pcall_raises,     // redis.pcall behaves like redis.call
  empty_sets_stay,  // the key of a set outlives its last member
  lost_messages,    // PUBLISH counts the subscribers and tells none
};

/// Their names on the command line.
inline constexpr std::array<std::pair<std::string_view, Flaw>, 6> flaw_names{{
    {"short-numbers", Flaw::short_numbers},
    {"nil-as-empty", Flaw::nil_as_empty},
    {"no-expiry", Flaw::no_expiry},
    {"pcall-raises", Flaw::pcall_raises},
    {"empty-sets-stay", Flaw::empty_sets_stay},
    {"lost-messages", Flaw::lost_messages},
}};

}  // namespace redlock::simulation
