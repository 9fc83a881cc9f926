// Between replies and the values of Lua, by Redis' rules.
#pragma once

#include <lua.hpp>

#include <array>
#include <string_view>

#include "redlock/core/wire/reply.hpp"
#include "simulation/server/flaw.hpp"

namespace redlock::simulation {

/// Room for the longest number.
using NumberText = std::array<char, 40>;

/// A number as an argument of a command: 17 digits, so that no bit of it is lost.
[[nodiscard]] std::string_view number_text(double number, NumberText& room, Flaw flaw);

/// Pushes what a script gets for a reply: a missing value is false, a status or an error is a table with `ok` or `err`.
void push_reply(lua_State* lua, const core::Reply& reply, Flaw flaw);

/// Pops what a script returned: numbers lose their fractions, false and nil are nil, a table is an error, a status or
/// an array up to the first nil. The types of RESP3 are not simulated.
void pop_reply(lua_State* lua, core::Reply& reply);

/// Pushes a table with `err`. What has no dash in front, or has but one word, gets the code ERR.
void push_error(lua_State* lua, std::string_view text);

}  // namespace redlock::simulation
