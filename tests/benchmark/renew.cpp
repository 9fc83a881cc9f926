#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/own_process.hpp"
#include "benchmark/measure/servers.hpp"
#include "redlock/redlock.hpp"
#include "support/network/raw_client.hpp"

namespace redlock::benchmark {
namespace {

/// Counters of one server: its reads from sockets, and the extensions that it executed.
struct Traffic {
  explicit Traffic(testing::RawClient& server)
      : reads{std::stod(*server.info("total_reads_processed"))},
        extensions{static_cast<double>(server.calls("evalsha"))} {}
  double reads;
  double extensions;
};

std::vector<Lease> hold(Redlock& locks, unsigned count, std::chrono::seconds ttl) {
  std::vector<Lease> held;
  held.reserve(count);
  for (unsigned i = 0; i < count; ++i)
    held.push_back(locks.lock("renewed/" + std::to_string(i), {.ttl = ttl}).value());
  return held;
}

}  // namespace

Facts renew(unsigned nodes, unsigned leases, std::chrono::seconds ttl_of_leases, unsigned seconds) {
  const testing::LocalNodes servers{static_cast<int>(nodes)};
  testing::RawClient observer{servers.port(0)};
  Redlock locks{endpoints_of(servers)};
  static_cast<void>(locks.lock("warm up").value());
  const double bytes_before = resident_bytes();
  const std::vector<Lease> held = hold(locks, leases, ttl_of_leases);
  const double bytes = resident_bytes() - bytes_before;

  const Traffic before{observer};
  const double cpu_before = seconds_of_cpu();
  const auto begun = Stopwatch::now();
  std::this_thread::sleep_for(std::chrono::seconds{seconds});
  const double cpu = seconds_of_cpu() - cpu_before;
  const double elapsed = std::chrono::duration<double>{Stopwatch::now() - begun}.count();
  const Traffic after{observer};
  for (const Lease& lease : held)
    if (lease.state() != State::held)
      throw std::runtime_error{lease.resource() + " was lost: " + std::string{to_string(lease.loss())}};
  const double extensions = after.extensions - before.extensions;
  if (extensions == 0)
    throw std::runtime_error{"no lease was extended in " + std::to_string(seconds) +
                             " s; measure for longer than a third of the ttl"};
  return {{"leases", leases},
          {"nodes", nodes},
          {"cpu_percent_of_a_core", 100 * cpu / elapsed},
          {"bytes_per_lease", bytes / leases},
          {"extensions_per_node_and_s", extensions / elapsed},
          {"sends_per_node_and_s", (after.reads - before.reads) / elapsed},
          {"extensions_per_send", extensions / (after.reads - before.reads)}};
}

}  // namespace redlock::benchmark
