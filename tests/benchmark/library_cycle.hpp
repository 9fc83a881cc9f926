// What users of the library do: lock and release.
#pragma once

#include "benchmark/floor/cycle_commands.hpp"
#include "benchmark/measure/resource_name.hpp"
#include "benchmark/measure/samples.hpp"
#include "redlock/redlock.hpp"

namespace redlock::benchmark {

inline const LockOptions plain{.ttl = ttl, .fencing = false};
inline const LockOptions fenced{.ttl = ttl};

/// One measured cycle, which is a sample when it locked and released, and else a failure.
void measure_cycle(LockClient& locks, const LockOptions& options, ResourceName& resource, Samples& samples);

/// So many cycles by one caller.
void measure_cycles(LockClient& locks, const LockOptions& options, ResourceName& resource, std::size_t cycles,
                    Samples& samples);

}  // namespace redlock::benchmark
