// The part of Lua that scripts may use.
#pragma once

#include <lua.hpp>

namespace redlock::simulation {

/// Opens the libraries that servers open, and adds the table `redis`, which is popped. Reading a missing global variable or
/// writing one raises an error. Nothing that a script does outlives it. Everything that would make two runs differ is removed:
/// random numbers, the state of the garbage collector, addresses in texts. `type()` reports the libraries and _G as userdata,
/// and iterating over them yields nothing.
///
/// Returns a reference to the table of globals. The caller puts KEYS and ARGV there before a script runs.
[[nodiscard]] int open_sandbox(lua_State* lua);

}  // namespace redlock::simulation
