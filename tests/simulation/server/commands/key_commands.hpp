// Commands on keys of any type.
#pragma once

#include "simulation/server/command.hpp"

namespace redlock::simulation::key_commands {

void dbsize(const Call&);
void del(const Call&);
void exists(const Call&);
void expire(const Call&);
void flushall(const Call&);
void persist(const Call&);
void pexpire(const Call&);
void pexpireat(const Call&);
void pexpiretime(const Call&);
void pttl(const Call&);
void ttl(const Call&);
void type(const Call&);

}  // namespace redlock::simulation::key_commands
