#include "library_cycle.hpp"

#include <optional>
#include <string>
#include <system_error>

namespace redlock::benchmark {

void measure_cycle(Locker& locks, ResourceName& resource, Samples& samples) {
  std::error_code error;
  const std::string_view name = resource.next();
  const auto begun = Stopwatch::now();
  std::optional<Lease> lease = locks.try_lock(name, {.ttl = ttl}, error);
  if (!lease) return samples.add_failure("not acquired: " + error.message());
  if (lease->release() != Release::released) return samples.add_failure("not released");
  samples.add(Stopwatch::now() - begun);
}

void measure_cycles(Locker& locks, ResourceName& resource, std::size_t cycles, Samples& samples) {
  const auto begun = Stopwatch::now();
  for (std::size_t i = 0; i < cycles; ++i) measure_cycle(locks, resource, samples);
  samples.add_elapsed(Stopwatch::now() - begun);
}

}  // namespace redlock::benchmark
