#include <sys/wait.h>

#include <string>
#include <vector>

#include "benchmark/library_cycle.hpp"
#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/servers.hpp"
#include "testing/process.hpp"

namespace redlock::benchmark {
namespace {

/// Each cycle starts a program and waits for its end.
Contestant program(const std::string& name, unsigned nodes, const std::vector<std::string>& words) {
  return {name, nodes, 1, [words](std::size_t count, Samples& samples) {
            const auto begun = Stopwatch::now();
            for (std::size_t i = 0; i < count; ++i) {
              const auto cycle_begun = Stopwatch::now();
              int status = 0;
              ::waitpid(testing::detail::launch({.arguments = words}), &status, 0);
              if (status != 0) samples.add_failure(words.front() + " failed");
              samples.add(Stopwatch::now() - cycle_begun);
            }
            samples.add_elapsed(Stopwatch::now() - begun);
          }};
}

/// Each cycle creates a client: name resolution, connections, login and loading of scripts come before the
/// lock.
Contestant first_lock(const testing::LocalNodes& servers, unsigned nodes) {
  return {"first-lock", nodes, 1,
          [&servers, resource = ResourceName{'f', 0}](std::size_t count, Samples& samples) mutable {
            const auto begun = Stopwatch::now();
            for (std::size_t i = 0; i < count; ++i) {
              const auto cycle_begun = Stopwatch::now();
              Redlock locks{endpoints_of(servers)};
              Samples inner;
              measure_cycle(locks, fenced, resource, inner);
              if (inner.failures() > 0) samples.add_failure(inner.first_failure());
              samples.add(Stopwatch::now() - cycle_begun);
            }
            samples.add_elapsed(Stopwatch::now() - begun);
          }};
}

}  // namespace

Report start(unsigned nodes, std::size_t cycles) {
  const testing::LocalNodes servers{static_cast<int>(nodes)};
  std::vector<std::string> words{REDLOCK_TOOL, "run", "-n"};
  for (const std::string& url : servers.urls()) words.insert(words.end(), {"--node", url});
  words.insert(words.end(), {"x", "--", "true"});
  std::vector<Contestant> contestants{program("process", 0, {*testing::detail::find_program("true")}),
                                      program("command", nodes, words), first_lock(servers, nodes)};
  measure_by_turns(contestants, cycles);
  const double reference = contestants.front().samples.percentile_us(0.5);
  Report report{{}, "ratio_to_process"};
  for (const Contestant& contestant : contestants)
    report.rows.emplace_back(contestant, contestant.samples.percentile_us(0.5) / reference);
  return report;
}

}  // namespace redlock::benchmark
