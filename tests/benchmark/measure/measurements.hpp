// The questions that the benchmark answers, each on servers that it starts and ends itself.
#pragma once

#include <cstddef>

#include "benchmark/measure/report.hpp"

namespace redlock::benchmark {

/// How long one caller takes for a cycle, beside the raw floor, on all nodes and on one.
Report latency(unsigned nodes, std::size_t cycles);

/// How many cycles many callers get done, beside the raw floor.
Report throughput(unsigned nodes, unsigned callers, std::size_t cycles);

enum class Outage { stop, kill };

/// What a cycle takes once the client has noticed that some nodes hang or are dead. Requires that a majority
/// is left.
Report degraded(unsigned nodes, Outage outage, unsigned hit, std::size_t cycles);

/// How long `redlock run -n x -- true` takes from its start to its end, beside a process that does nothing, and the
/// first lock and release of a new client.
Report start(unsigned nodes, std::size_t cycles);

/// How long after the deadline of a lease that renews itself its loss is told, when a majority hangs, beside a thread that
/// sleeps until the deadline, and so many threads that leave nobody a core. Then how long after its keys were deleted on a
/// majority.
Report loss(unsigned nodes, unsigned busy, std::size_t cycles);

/// What it takes to keep so many leases, with a ttl of 30 s, for so long: time of all the client's threads, memory, and
/// traffic as a server sees it.
Facts renew(unsigned nodes, unsigned leases, unsigned seconds);

}  // namespace redlock::benchmark
