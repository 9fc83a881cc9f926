#include <utility>
#include <vector>

#include "benchmark/floor/floor.hpp"
#include "benchmark/library_cycle.hpp"
#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/servers.hpp"

namespace redlock::benchmark {
namespace {

Contestant raw(std::string name, unsigned nodes, Floor& floor) {
  return {std::move(name), nodes, 1,
          [&floor](std::size_t cycles, Samples& samples) { floor.run(cycles, samples); }};
}

Contestant library(std::string name, unsigned nodes, LockClient& locks, const LockOptions& options,
                   ResourceName resource) {
  return {std::move(name), nodes, 1,
          [&locks, &options, resource](std::size_t cycles, Samples& samples) mutable {
            measure_cycles(locks, options, resource, cycles, samples);
          }};
}

Row compare(const Contestant& contestant, const Contestant& floor) {
  return {contestant, contestant.samples.percentile_us(0.5) / floor.samples.percentile_us(0.5)};
}

/// Contestants in pairs: the second one of each has TLS.
std::vector<Contestant> pairs(unsigned nodes, Redlock& open, Redlock& secured, SingleNodeLock& single,
                              SingleNodeLock& secured_single) {
  return {library("redlock", nodes, open, plain, {'r', 0}),
          library("redlock-tls", nodes, secured, plain, {'r', 0}),
          library("redlock-fenced", nodes, open, fenced, {'R', 0}),
          library("redlock-fenced-tls", nodes, secured, fenced, {'R', 0}),
          library("single", 1, single, plain, {'s', 0}),
          library("single-tls", 1, secured_single, plain, {'s', 0})};
}

}  // namespace

Report latency_with_tls(unsigned nodes, std::size_t cycles) {
  const testing::LocalNodes open_servers{static_cast<int>(nodes)};
  const testing::LocalNodes servers{static_cast<int>(nodes), {.tls = true}};
  Redlock open{endpoints_of(open_servers)};
  Redlock secured{endpoints_of(servers), {.tls = servers.tls_options()}};
  SingleNodeLock single{open_servers.url(0)};
  SingleNodeLock secured_single{servers.url(0), {.tls = servers.tls_options()}};
  std::vector<Contestant> contestants = pairs(nodes, open, secured, single, secured_single);
  measure_by_turns(contestants, cycles);
  Report report{{}, "ratio_to_no_tls"};
  for (std::size_t i = 0; i < contestants.size(); ++i)
    report.rows.push_back(compare(contestants[i], contestants[i - i % 2]));
  return report;
}

Report latency(unsigned nodes, std::size_t cycles) {
  const testing::LocalNodes servers{static_cast<int>(nodes)};
  Redlock redlock{endpoints_of(servers)};
  Redlock unguarded{endpoints_of(servers), {.restart_guard = RestartGuard::off}};
  SingleNodeLock single{servers.url(0)};
  Floor floor{ports_of(servers), 'f', mark(redlock, servers)};
  Floor unguarded_floor{ports_of(servers), 'e'};
  Floor single_floor{{servers.port(0)}, 'g'};
  std::vector<Contestant> contestants{
      raw("floor", nodes, floor),
      library("redlock", nodes, redlock, plain, {'r', 0}),
      library("redlock-fenced", nodes, redlock, fenced, {'R', 0}),
      raw("unguarded-floor", nodes, unguarded_floor),
      library("unguarded", nodes, unguarded, plain, {'u', 0}),
      library("unguarded-fenced", nodes, unguarded, fenced, {'U', 0}),
      raw("single-floor", 1, single_floor),
      library("single", 1, single, plain, {'s', 0}),
      library("single-fenced", 1, single, fenced, {'S', 0}),
  };
  measure_by_turns(contestants, cycles);
  Report report;
  for (std::size_t i = 0; i < contestants.size(); ++i)
    report.rows.push_back(compare(contestants[i], contestants[i - i % 3]));
  return report;
}

}  // namespace redlock::benchmark
