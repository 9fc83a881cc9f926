// Converts between replies and Lua values by the rules of Redis.
#pragma once

#include <lua.hpp>

#include <array>
#include <string_view>

#include "redlock/core/wire/reply.hpp"
#include "simulation/server/flaw.hpp"

namespace redlock::simulation {

/// Buffer for the longest number.
using NumberText = std::array<char, 40>;

/// Formats a number as an argument of a command, with 17 digits, so that no bit is lost.
[[nodiscard]] std::string_view number_text(double number, NumberText& room, Flaw flaw);

/// Pushes the Lua value of a reply: false for a missing value, a table with `ok` or `err` for a status or an error.
void push_reply(lua_State* lua, const core::Reply& reply, Flaw flaw);

/// Pops the value that a script returned. Numbers lose their fractions, false and nil become nil, a table becomes an error, a
/// status or an array up to the first nil. RESP3 types are not simulated.
void pop_reply(lua_State* lua, core::Reply& reply);

/// Pushes a table with `err`. A text without a leading dash, or with a single word, gets the code ERR.
void push_error(lua_State* lua, std::string_view text);

}  // namespace redlock::simulation
