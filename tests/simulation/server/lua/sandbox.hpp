// What a script may use of Lua.
#pragma once

#include <lua.hpp>

namespace redlock::simulation {

/// The libraries, as servers open them, around the table `redis`, which is popped. Whoever reads a global variable that
/// is not there, or writes one, gets an error; nothing that a script does outlives it. What would make two runs differ is
/// not there: random numbers, the state of the garbage collector, addresses in texts. To `type()` the libraries and _G
/// are userdata, and iterating over them finds nothing.
///
/// Returns a reference to the table of globals, where KEYS and ARGV are to be put before a script runs.
[[nodiscard]] int open_sandbox(lua_State* lua);

}  // namespace redlock::simulation
