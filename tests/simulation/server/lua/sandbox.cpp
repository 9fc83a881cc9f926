#include "simulation/server/lua/sandbox.hpp"

#include <initializer_list>

namespace redlock::simulation {
namespace {

int refuse_missing(lua_State* lua) {
  return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'", lua_tostring(lua, 2));
}

int refuse_writing(lua_State* lua) { return luaL_error(lua, "Attempt to modify a readonly table"); }

/// Replaces Lua's `tostring`, which shows the addresses of tables and functions.
int to_string(lua_State* lua) {
  luaL_checkany(lua, 1);
  if (luaL_callmeta(lua, 1, "__tostring") != 0) return 1;
  if (lua_type(lua, 1) == LUA_TSTRING || lua_type(lua, 1) == LUA_TNUMBER) return lua_tostring(lua, 1), 1;
  lua_pushstring(lua, lua_type(lua, 1) == LUA_TBOOLEAN ? lua_toboolean(lua, 1) != 0 ? "true" : "false"
                                                       : luaL_typename(lua, 1));
  return 1;
}

/// Replaces Lua's `pcall`, which returns the table that redis.call raises. Here it returns the text in it, as before Redis 7.
int protected_call(lua_State* lua) {
  luaL_checkany(lua, 1);
  const int outcome = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0);
  if (outcome != 0 && lua_istable(lua, -1)) {
    lua_getfield(lua, -1, "err");
    lua_isstring(lua, -1) != 0 ? lua_replace(lua, -2) : lua_pop(lua, 1);
  }
  lua_pushboolean(lua, outcome == 0);
  lua_insert(lua, 1);
  return lua_gettop(lua);
}

/// Makes the value at the top a read-only view of the table below it, which is popped.
void protect(lua_State* lua) {
  lua_createtable(lua, 0, 3);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pushcfunction(lua, refuse_writing);
  lua_setfield(lua, -2, "__newindex");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_setmetatable(lua, -2);
  lua_remove(lua, -2);
}

/// Scripts get userdata rather than a table: the functions of `table` write to a table without calling its metamethods.
void protect_from_scripts(lua_State* lua) {
  lua_newuserdata(lua, 0);
  protect(lua);
}

void open(lua_State* lua, const char* name, lua_CFunction library) {
  lua_pushcfunction(lua, library);
  lua_pushstring(lua, name);
  lua_call(lua, 1, 0);
}

void remove_fields(lua_State* lua, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    lua_pushnil(lua);
    lua_setfield(lua, -2, name);
  }
}

void set_function(lua_State* lua, const char* name, lua_CFunction function) {
  lua_pushcfunction(lua, function);
  lua_setfield(lua, -2, name);
}

void open_libraries(lua_State* lua) {
  open(lua, "", luaopen_base);
  open(lua, LUA_TABLIBNAME, luaopen_table);
  open(lua, LUA_STRLIBNAME, luaopen_string);
  open(lua, LUA_MATHLIBNAME, luaopen_math);
  lua_getglobal(lua, LUA_MATHLIBNAME);
  remove_fields(lua, {"random", "randomseed"});
  lua_pop(lua, 1);
  lua_pushliteral(lua, "");
  lua_getmetatable(lua, -1);  // the metatable of all strings
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pop(lua, 2);
}

}  // namespace

int open_sandbox(lua_State* lua) {
  lua_setglobal(lua, "redis");
  open_libraries(lua);
  for (const char* const name : {"redis", LUA_TABLIBNAME, LUA_STRLIBNAME, LUA_MATHLIBNAME}) {
    lua_getglobal(lua, name);
    protect_from_scripts(lua);
    lua_setglobal(lua, name);
  }
  lua_pushvalue(lua, LUA_GLOBALSINDEX);
  remove_fields(lua, {"print", "dofile", "loadfile", "rawset", "getfenv", "setfenv", "newproxy",
                      "collectgarbage", "gcinfo"});
  set_function(lua, "tostring", to_string);
  set_function(lua, "pcall", protected_call);
  lua_createtable(lua, 0, 1);
  set_function(lua, "__index", refuse_missing);
  lua_setmetatable(lua, -2);

  lua_pushvalue(lua, -1);
  protect_from_scripts(lua);
  lua_setfield(lua, -2, "_G");
  lua_pushvalue(lua, -1);
  lua_newtable(lua);
  protect(lua);
  lua_replace(lua, LUA_GLOBALSINDEX);  // for every function compiled from now on
  return luaL_ref(lua, LUA_REGISTRYINDEX);
}

}  // namespace redlock::simulation
