// What users of the library do: lock and release.
#pragma once

#include "cycle_commands.hpp"
#include "redlock/redlock.hpp"
#include "resource_name.hpp"
#include "samples.hpp"

namespace redlock::benchmark {

inline const LockOptions plain{.ttl = ttl, .fencing = false};
inline const LockOptions fenced{.ttl = ttl};

/// One measured cycle, which is a sample when it locked and released, and else a failure.
void measure_cycle(Locker& locks, const LockOptions& options, ResourceName& resource, Samples& samples);

/// So many cycles by one caller.
void measure_cycles(Locker& locks, const LockOptions& options, ResourceName& resource, std::size_t cycles,
                    Samples& samples);

}  // namespace redlock::benchmark
