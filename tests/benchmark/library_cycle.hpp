// One cycle of the library: lock and release.
#pragma once

#include "benchmark/floor/cycle_commands.hpp"
#include "benchmark/measure/resource_name.hpp"
#include "benchmark/measure/samples.hpp"
#include "redlock/redlock.hpp"

namespace redlock::benchmark {

inline const LockOptions plain{.ttl = ttl, .fencing = false};
inline const LockOptions fenced{.ttl = ttl};

/// Measures one cycle. Adds a sample if the resource was locked and released, and a failure otherwise.
void measure_cycle(LockClient& locks, const LockOptions& options, ResourceName& resource, Samples& samples);

/// Measures `cycles` cycles of one caller.
void measure_cycles(LockClient& locks, const LockOptions& options, ResourceName& resource, std::size_t cycles,
                    Samples& samples);

}  // namespace redlock::benchmark
