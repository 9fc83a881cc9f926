// Commands on sorted sets.
#pragma once

#include "simulation/server/command.hpp"

namespace redlock::simulation::sorted_set_commands {

void zadd(const Call&);  // without options
void zcard(const Call&);
void zrange(const Call&);  // by rank; only with the option WITHSCORES
void zrangebyscore(const Call&);
void zrank(const Call&);
void zrem(const Call&);
void zscore(const Call&);

}  // namespace redlock::simulation::sorted_set_commands
