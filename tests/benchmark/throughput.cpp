#include "benchmark/floor/pipelined_floor.hpp"
#include "benchmark/library_cycle.hpp"
#include "benchmark/locking_threads.hpp"
#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/servers.hpp"

namespace redlock::benchmark {

Report throughput(unsigned nodes, unsigned callers, std::size_t cycles) {
  const testing::LocalNodes servers{static_cast<int>(nodes)};
  Redlock redlock{endpoints_of(servers)};
  PipelinedFloor floor{addresses_of(servers), callers, 'p', mark(redlock, servers)};
  LockingThreads threads{redlock, plain, callers, 't'};
  LockingThreads fenced_threads{redlock, fenced, callers, 'T'};
  std::vector<Contestant> contestants{
      {"pipelined-floor", nodes, callers,
       [&floor](std::size_t count, Samples& samples) { floor.run(count, samples); }},
      {"redlock-threads", nodes, callers,
       [&threads](std::size_t count, Samples& samples) { threads.run(count, samples); }},
      {"redlock-threads-fenced", nodes, callers,
       [&fenced_threads](std::size_t count, Samples& samples) { fenced_threads.run(count, samples); }},
  };
  measure_by_turns(contestants, cycles);
  const double reference = contestants.front().samples.cycles_per_second();
  Report report;
  for (const Contestant& contestant : contestants)
    report.rows.emplace_back(contestant, contestant.samples.cycles_per_second() / reference);
  return report;
}

}  // namespace redlock::benchmark
