// Commands on string values.
#pragma once

#include "simulation/server/command.hpp"

namespace redlock::simulation::string_commands {

void get(const Call&);
void getrange(const Call&);
void incr(const Call&);
void rpush(const Call&);  // creates keys of another type
void set(const Call&);    // without EXAT and PXAT
void setnx(const Call&);

}  // namespace redlock::simulation::string_commands
