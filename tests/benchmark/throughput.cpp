#include <string>
#include <utility>
#include <vector>

#include "benchmark/floor/pipelined_floor.hpp"
#include "benchmark/library_cycle.hpp"
#include "benchmark/locking_threads.hpp"
#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/servers.hpp"

namespace redlock::benchmark {

Report throughput(unsigned nodes, unsigned callers, std::size_t cycles) {
  const testing::LocalNodes servers{static_cast<int>(nodes)};
  Redlock redlock{endpoints_of(servers)};
  Wording wording = mark(redlock, servers);
  PipelinedFloor floor{addresses_of(servers), callers, 'p', wording};
  wording.is_fenced = true;
  PipelinedFloor fenced_floor{addresses_of(servers), callers, 'P', wording};
  LockingThreads threads{redlock, plain, callers, 't'};
  LockingThreads fenced_threads{redlock, fenced, callers, 'T'};
  const auto contestant = [&](std::string name, auto& callers_of_it) {
    return Contestant{std::move(name), nodes, callers, [&callers_of_it](std::size_t count, Samples& samples) {
                        callers_of_it.run(count, samples);
                      }};
  };
  std::vector<Comparison> comparisons{
      {contestant("pipelined-floor", floor), contestant("redlock-threads", threads)},
      {contestant("pipelined-fenced-floor", fenced_floor),
       contestant("redlock-threads-fenced", fenced_threads)},
  };
  measure_by_turns(comparisons, cycles);
  Report report;
  for (const auto& each : comparisons) {
    const double rate = each.floor.samples.cycles_per_second();
    report.rows.emplace_back(each.floor, 1.0);
    report.rows.emplace_back(each.measured, each.measured.samples.cycles_per_second() / rate);
  }
  return report;
}

}  // namespace redlock::benchmark
