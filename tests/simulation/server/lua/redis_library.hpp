// The table `redis` of scripts.
#pragma once

#include <lua.hpp>

namespace redlock::simulation {

/// Pushes the table `redis`, without `call` and `pcall`.
void push_redis_library(lua_State* lua);

}  // namespace redlock::simulation
