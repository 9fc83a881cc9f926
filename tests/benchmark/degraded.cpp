#include <chrono>

#include "benchmark/library_cycle.hpp"
#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/servers.hpp"

namespace redlock::benchmark {
namespace {

// Longer than the silence after which the library gives a connection up.
constexpr std::chrono::seconds time_to_notice{3};

void fail_nodes(testing::LocalNodes& servers, Failure failure, unsigned count) {
  for (int i = 0; i < static_cast<int>(count); ++i)
    if (failure == Failure::kill)
      servers.kill(i);
    else
      servers.pause(i);
}

}  // namespace

Report degraded(unsigned nodes, Failure failure, unsigned failed, std::size_t cycles) {
  testing::LocalNodes servers{static_cast<int>(nodes)};
  Redlock redlock{endpoints_of(servers)};
  const auto run = [&redlock, resource = ResourceName{'d', 0}](std::size_t count, Samples& samples) mutable {
    measure_cycles(redlock, plain, resource, count, samples);
  };
  Contestant healthy{"healthy", nodes, 1, run};
  warm_up(healthy, cycles / 10 + 1);
  measure(healthy, cycles);

  fail_nodes(servers, failure, failed);
  Contestant after{"degraded", nodes, 1, healthy.run};
  const auto noticed = Stopwatch::now() + time_to_notice;
  while (Stopwatch::now() < noticed) warm_up(after, 1);
  measure(after, cycles);

  const double ratio = after.samples.percentile_us(0.5) / healthy.samples.percentile_us(0.5);
  return {{{healthy, 1.0}, {after, ratio}}, "ratio_to_healthy"};
}

}  // namespace redlock::benchmark
