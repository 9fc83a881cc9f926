// Commands on sets.
#pragma once

#include "simulation/server/command.hpp"

namespace redlock::simulation::set_commands {

void sadd(const Call&);
void sismember(const Call&);
void smembers(const Call&);  // by bytes; a real server has them in any order
void srem(const Call&);

}  // namespace redlock::simulation::set_commands
