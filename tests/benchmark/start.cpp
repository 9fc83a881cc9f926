#include <sys/wait.h>

#include <optional>
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
Contestant first_lock(const std::string& name, const testing::LocalNodes& servers) {
  return {name, static_cast<unsigned>(servers.size()), 1,
          [&servers, resource = ResourceName{'f', 0}](std::size_t count, Samples& samples) mutable {
            const auto begun = Stopwatch::now();
            for (std::size_t i = 0; i < count; ++i) {
              const auto cycle_begun = Stopwatch::now();
              Redlock locks{endpoints_of(servers), {.tls = servers.tls_options()}};
              Samples inner;
              measure_cycle(locks, fenced, resource, inner);
              if (inner.failures() > 0) samples.add_failure(inner.first_failure());
              samples.add(Stopwatch::now() - cycle_begun);
            }
            samples.add_elapsed(Stopwatch::now() - begun);
          }};
}

}  // namespace

Report start(unsigned nodes, bool with_tls, std::size_t cycles) {
  const testing::LocalNodes servers{static_cast<int>(nodes)};
  std::vector<std::string> words{REDLOCK_TOOL, "run", "-n"};
  for (const std::string& url : servers.urls()) words.insert(words.end(), {"--node", url});
  words.insert(words.end(), {"x", "--", "true"});
  std::vector<Contestant> contestants{program("process", 0, {*testing::detail::find_program("true")}),
                                      program("command", nodes, words), first_lock("first-lock", servers)};
  std::optional<testing::LocalNodes> tls_servers;
  if (with_tls) {
    tls_servers.emplace(static_cast<int>(nodes), testing::LocalNodesOptions{.tls = true});
    contestants.push_back(first_lock("first-lock-tls", *tls_servers));
  }
  measure_by_turns(contestants, cycles);
  const double reference = contestants.front().samples.percentile_us(0.5);
  Report report{{}, "ratio_to_process"};
  for (const Contestant& contestant : contestants)
    report.rows.emplace_back(contestant, contestant.samples.percentile_us(0.5) / reference);
  return report;
}

}  // namespace redlock::benchmark
