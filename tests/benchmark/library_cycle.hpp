// One cycle of the library: lock and release.
#pragma once

#include <cstddef>
#include <string_view>

#include "benchmark/floor/cycle_commands.hpp"
#include "benchmark/measure/resource_name.hpp"
#include "benchmark/measure/samples.hpp"
#include "redlock/redlock.hpp"

namespace redlock::benchmark {

inline const LockOptions plain{.ttl = ttl, .fencing = false};
inline const LockOptions fenced{.ttl = ttl};

/// Measures one cycle. Adds a sample if the resource was locked and released, and a failure otherwise.
inline void measure_cycle(LockClient& locks, const LockOptions& options, ResourceName& resource,
                          Samples& samples) {
  const std::string_view name = resource.next();
  const auto begun = Stopwatch::now();
  LockResult lease = locks.try_lock(name, options);
  if (!lease) return samples.add_failure(lease.message());
  if (lease->release() != Release::released) return samples.add_failure("not released");
  samples.add(Stopwatch::now() - begun);
}

/// Measures `cycles` cycles of one caller.
inline void measure_cycles(LockClient& locks, const LockOptions& options, ResourceName& resource,
                           std::size_t cycles, Samples& samples) {
  const auto begun = Stopwatch::now();
  for (std::size_t i = 0; i < cycles; ++i) measure_cycle(locks, options, resource, samples);
  samples.add_elapsed(Stopwatch::now() - begun);
}

}  // namespace redlock::benchmark
