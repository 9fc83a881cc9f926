#include "simulation/server/lua/scripts.hpp"

#include <stdexcept>

#include "simulation/server/lua/redis_library.hpp"
#include "simulation/server/lua/sandbox.hpp"
#include "simulation/server/lua/sha1.hpp"

namespace redlock::simulation {
namespace {

constexpr int error_handler = 1;  // its index on the stack

/// Converts the raised value to a table and adds the line. For a C function this is the line of the call.
int note_place(lua_State* lua) {
  if (!lua_istable(lua, 1)) {
    lua_getglobal(lua, "tostring");
    lua_pushvalue(lua, 1);
    lua_call(lua, 1, 1);
    lua_pushliteral(lua, "ERR ");
    lua_insert(lua, -2);
    lua_concat(lua, 2);
    lua_createtable(lua, 0, 3);
    lua_insert(lua, -2);
    lua_setfield(lua, -2, "err");
  }
  lua_Debug place{};
  const auto found = [&](int level) {
    return lua_getstack(lua, level, &place) != 0 && lua_getinfo(lua, "Sl", &place) != 0;
  };
  if (found(1) && (std::string_view{place.what} != "C" || found(2))) {
    lua_pushstring(lua, place.source);
    lua_setfield(lua, -2, "source");
    lua_pushinteger(lua, place.currentline);
    lua_setfield(lua, -2, "line");
  }
  return 1;
}

Interpreter& interpreter_of(lua_State* lua) {
  return *static_cast<Interpreter*>(lua_touserdata(lua, lua_upvalueindex(1)));
}

/// A field of the table at the top as text, or an empty string.
std::string field(lua_State* lua, const char* name) {
  lua_getfield(lua, -1, name);
  std::string text = lua_isstring(lua, -1) != 0 ? lua_tostring(lua, -1) : "";
  lua_pop(lua, 1);
  return text;
}

}  // namespace

Interpreter::Interpreter(Flaw flaw) : flaw_{flaw}, lua_{luaL_newstate()} {
  if (!lua_) throw std::runtime_error{"no memory for an interpreter of Lua"};
  lua_State* const lua = lua_.get();
  lua_pushcfunction(lua, note_place);
  push_redis_library(lua);
  for (const auto& [name, function] : {std::pair{"call", &redis_call}, std::pair{"pcall", &redis_pcall}}) {
    lua_pushlightuserdata(lua, this);
    lua_pushcclosure(lua, function, 1);
    lua_setfield(lua, -2, name);
  }
  globals_ = open_sandbox(lua);
}

Interpreter::Source& Interpreter::source(std::string_view text) {
  const auto known = sources_.find(text);
  if (known != sources_.end()) return known->second;
  return sources_.emplace(text, Source{sha1_hex(text), std::nullopt}).first->second;
}

const std::string& Interpreter::digest(std::string_view text) { return source(text).digest; }

std::optional<Interpreter::Program> Interpreter::compile(std::string_view text, Reply& error) {
  Source& known = source(text);
  lua_State* const lua = lua_.get();
  if (!known.function) {
    if (luaL_loadbuffer(lua, text.data(), text.size(), "@user_script") != 0) {
      Answer{error}.error(std::string{"ERR Error compiling script (new function): "} + lua_tostring(lua, -1));
      lua_pop(lua, 1);
      return std::nullopt;
    }
    known.function = luaL_ref(lua, LUA_REGISTRYINDEX);
  }
  return Program{known.digest, *known.function};
}

void Interpreter::set_global(const char* name, Words values) {
  lua_State* const lua = lua_.get();
  lua_createtable(lua, static_cast<int>(values.size()), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    lua_pushlstring(lua, values[i].data(), values[i].size());
    lua_rawseti(lua, -2, static_cast<int>(i + 1));
  }
  lua_setfield(lua, -2, name);
}

void Interpreter::run(const Program& program, Words keys, Words values, ScriptCommands& commands,
                      Reply& reply) {
  lua_State* const lua = lua_.get();
  lua_rawgeti(lua, LUA_REGISTRYINDEX, globals_);
  set_global("KEYS", keys);
  set_global("ARGV", values);
  lua_pop(lua, 1);
  commands_ = &commands;
  lua_rawgeti(lua, LUA_REGISTRYINDEX, program.function);
  if (lua_pcall(lua, 0, 1, error_handler) == 0)
    pop_reply(lua, reply);
  else
    report_failure(program, reply);
  commands_ = nullptr;
}

void Interpreter::report_failure(const Program& program, Reply& reply) {
  lua_State* const lua = lua_.get();
  std::string text;
  if (lua_istable(lua, -1)) {
    text = field(lua, "err");
    const std::string line = field(lua, "line");
    if (!line.empty())
      text.append(" script: ")
          .append(program.digest)
          .append(", on ")
          .append(field(lua, "source"))
          .append(":")
          .append(line)
          .append(".");
  } else {
    text.append("ERR Error running script ")
        .append(program.digest)
        .append(", ")
        .append(lua_tostring(lua, -1));
  }
  lua_pop(lua, 1);
  Answer{reply}.error(text);
}

int Interpreter::redis_call(lua_State* lua) { return interpreter_of(lua).forward(lua) ? lua_error(lua) : 1; }

int Interpreter::redis_pcall(lua_State* lua) {
  Interpreter& self = interpreter_of(lua);
  return self.forward(lua) && self.flaw_ == Flaw::pcall_raises ? lua_error(lua) : 1;
}

bool Interpreter::forward(lua_State* lua) {
  const auto count = static_cast<std::size_t>(lua_gettop(lua));
  if (count == 0)
    return push_error(lua, "Please specify at least one argument for this redis lib call"), true;
  words_.clear();
  numbers_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const int place = static_cast<int>(i + 1);
    std::size_t size = 0;
    if (lua_type(lua, place) == LUA_TNUMBER) {
      words_.push_back(number_text(lua_tonumber(lua, place), numbers_[i], flaw_));
    } else if (const char* const text = lua_tolstring(lua, place, &size)) {
      words_.emplace_back(text, size);
    } else {
      return push_error(lua, "Lua redis lib command arguments must be strings or integers"), true;
    }
  }
  commands_->call(words_, answer_);
  push_reply(lua, answer_, flaw_);
  return answer_.is(Reply::Kind::error);
}

}  // namespace redlock::simulation
