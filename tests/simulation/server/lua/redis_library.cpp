#include "simulation/server/lua/redis_library.hpp"

#include <string>
#include <string_view>

#include "simulation/server/lua/lua_values.hpp"
#include "simulation/server/lua/sha1.hpp"

namespace redlock::simulation {
namespace {

// Lua errors jump over stack frames, which must not contain objects with destructors. So a separate function creates the strings.

void push_sha1(lua_State* lua) {
  std::size_t size = 0;
  const char* const text = lua_tolstring(lua, 1, &size);
  const std::string hex = sha1_hex(text ? std::string_view{text, size} : std::string_view{});
  lua_pushlstring(lua, hex.data(), hex.size());
}

void push_error_of(lua_State* lua) {
  const std::string text = lua_tostring(lua, 1);
  push_error(lua, text.starts_with('-') ? text : "-" + text);
}

bool is_one_string(lua_State* lua) { return lua_gettop(lua) == 1 && lua_type(lua, 1) == LUA_TSTRING; }

int error_reply(lua_State* lua) {
  if (is_one_string(lua))
    push_error_of(lua);
  else
    push_error(lua, "wrong number or type of arguments");
  return 1;
}

int status_reply(lua_State* lua) {
  if (!is_one_string(lua)) return push_error(lua, "wrong number or type of arguments"), 1;
  lua_createtable(lua, 0, 1);
  lua_pushvalue(lua, 1);
  lua_setfield(lua, -2, "ok");
  return 1;
}

int sha1hex(lua_State* lua) {
  if (lua_gettop(lua) != 1) return push_error(lua, "wrong number of arguments"), lua_error(lua);
  push_sha1(lua);
  return 1;
}

int log(lua_State*) { return 0; }

constexpr luaL_Reg functions[] = {{"error_reply", error_reply},
                                  {"status_reply", status_reply},
                                  {"sha1hex", sha1hex},
                                  {"log", log},
                                  {nullptr, nullptr}};

}  // namespace

void push_redis_library(lua_State* lua) {
  lua_newtable(lua);
  luaL_register(lua, nullptr, functions);
}

}  // namespace redlock::simulation
