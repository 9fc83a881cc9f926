#include "simulation/server/lua/lua_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "simulation/server/command.hpp"

namespace redlock::simulation {
namespace {

using core::Reply;

void push_text(lua_State* lua, std::string_view text) { lua_pushlstring(lua, text.data(), text.size()); }

void push_field(lua_State* lua, const char* name, std::string_view text) {
  lua_createtable(lua, 0, 1);
  push_text(lua, text);
  lua_setfield(lua, -2, name);
}

/// Truncates as the processor does, also numbers outside the range of integers.
long long truncated(double number) {
  constexpr double limit = 9223372036854775808.0;
  if (!(number >= -limit && number < limit)) return std::numeric_limits<long long>::min();
  return static_cast<long long>(number);
}

/// Pushes a string field of the table at the top, which Redis cuts at its first zero byte. Pushes nothing and returns null if
/// the field is not a string.
const char* push_string_field(lua_State* lua, const char* name) {
  lua_pushstring(lua, name);
  lua_rawget(lua, -2);
  if (lua_type(lua, -1) == LUA_TSTRING) return lua_tostring(lua, -1);
  lua_pop(lua, 1);
  return nullptr;
}

/// Replaces line ends, which would end the reply.
void flatten(std::string& line) {
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
}

void read_table(lua_State* lua, Reply& reply) {
  const Answer answer{reply};
  if (const char* const text = push_string_field(lua, "err")) {
    std::string_view line{text};
    while (line.ends_with('\r') || line.ends_with('\n')) line.remove_suffix(1);
    answer.error(line);
    flatten(reply.text);
  } else if (const char* const status = push_string_field(lua, "ok")) {
    answer.status(status);
    flatten(reply.text);
  } else {
    answer.array({});
    for (int i = 1; lua_rawgeti(lua, -1, i), !lua_isnil(lua, -1); ++i)
      pop_reply(lua, reply.elements.emplace_back());
  }
  lua_pop(lua, 1);  // the text, or the nil
}

}  // namespace

std::string_view number_text(double number, NumberText& room, Flaw flaw) {
  char* const begin = room.data();
  char* const end = begin + room.size();
  constexpr double whole_to = 1e15;
  if (flaw == Flaw::short_numbers)
    return {begin, std::to_chars(begin, end, number, std::chars_format::general, 14).ptr};
  // Faster, with the same result.
  if (std::abs(number) < whole_to && number == std::trunc(number) && !(number == 0 && std::signbit(number)))
    return {begin, std::to_chars(begin, end, static_cast<long long>(number)).ptr};
  return {begin, std::to_chars(begin, end, number, std::chars_format::general, 17).ptr};
}

void push_reply(lua_State* lua, const Reply& reply, Flaw flaw) {
  luaL_checkstack(lua, 3, "a reply");
  switch (reply.kind) {
    case Reply::Kind::nil:
      return flaw == Flaw::nil_as_empty ? push_text(lua, {}) : lua_pushboolean(lua, 0);
    case Reply::Kind::status:
      return push_field(lua, "ok", reply.text);
    case Reply::Kind::error:
      return push_field(lua, "err", reply.text);
    case Reply::Kind::integer:
      return lua_pushnumber(lua, static_cast<lua_Number>(reply.integer));
    case Reply::Kind::string:
      return push_text(lua, reply.text);
    case Reply::Kind::array:
      break;
  }
  lua_createtable(lua, static_cast<int>(reply.elements.size()), 0);
  for (std::size_t i = 0; i < reply.elements.size(); ++i) {
    push_reply(lua, reply.elements[i], flaw);
    lua_rawseti(lua, -2, static_cast<int>(i + 1));
  }
}

void pop_reply(lua_State* lua, Reply& reply) {
  const Answer answer{reply};
  if (!lua_checkstack(lua, 4)) {
    answer.error("ERR reached lua stack limit");
    return lua_pop(lua, 1);
  }
  std::size_t size = 0;
  switch (lua_type(lua, -1)) {
    case LUA_TSTRING: {
      const char* const text = lua_tolstring(lua, -1, &size);
      answer.string({text, size});
      break;
    }
    case LUA_TBOOLEAN:
      lua_toboolean(lua, -1) != 0 ? answer.integer(1) : answer.nil();
      break;
    case LUA_TNUMBER:
      answer.integer(truncated(lua_tonumber(lua, -1)));
      break;
    case LUA_TTABLE:
      read_table(lua, reply);
      break;
    default:
      answer.nil();
  }
  lua_pop(lua, 1);
}

void push_error(lua_State* lua, std::string_view text) {
  std::string whole{"ERR "};
  if (text.starts_with('-')) {
    text.remove_prefix(1);
    if (text.find(' ') != text.npos) whole.clear();
  }
  whole.append(text.substr(0, text.find('\0')));
  push_field(lua, "err", whole);
}

}  // namespace redlock::simulation
