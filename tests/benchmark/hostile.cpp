#include <string>
#include <vector>

#include "benchmark/library_cycle.hpp"
#include "benchmark/measure/measurements.hpp"
#include "benchmark/measure/servers.hpp"
#include "support/network/proxy.hpp"

namespace redlock::benchmark {
namespace {

struct FloodBytes {
  std::string bytes;
  std::string word;  // in a command of the connections that are flooded
};

FloodBytes bytes_of(Flood flood) {
  switch (flood) {
    case Flood::invalidations:
      return {"*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*-1\r\n", "SUBSCRIBE"};
    case Flood::replies:
      return {"+OK\r\n", "ROLE"};
    case Flood::greetings:
      return {"\x15", "ROLE"};  // not RESP: every connection breaks after its handshake
    case Flood::errors:
      return {"-ERR " + std::string(1U << 20U, 'x') + "\r\n", "ROLE"};
  }
  return {};
}

std::vector<Lease> hold(Redlock& locks, unsigned count) {
  std::vector<Lease> held;
  held.reserve(count);
  for (unsigned i = 0; i < count; ++i)
    held.push_back(locks.lock("held/" + std::to_string(i), {.ttl = std::chrono::seconds{60}}).value());
  return held;
}

}  // namespace

Report hostile(unsigned nodes, Flood flood, unsigned leases, std::size_t cycles) {
  const testing::LocalNodes servers{static_cast<int>(nodes)};
  testing::Proxy proxy{servers.port(0)};
  std::vector<Endpoint> endpoints = endpoints_of(servers);
  endpoints.front() = Endpoint{proxy.url()};
  auto [bytes, word] = bytes_of(flood);
  proxy.flood({}, word);
  Redlock redlock{endpoints};
  const std::vector<Lease> held = hold(redlock, leases);
  const auto run = [&redlock, resource = ResourceName{'h', 0}](std::size_t count, Samples& samples) mutable {
    measure_cycles(redlock, plain, resource, count, samples);
  };
  Contestant healthy{"healthy", nodes, 1, run};
  warm_up(healthy, cycles / 10 + 1);
  measure(healthy, cycles);

  proxy.flood(bytes, word);  // without a warm-up, because the flood costs most when it begins
  Contestant flooded{"flooded", nodes, 1, healthy.run};
  measure(flooded, cycles);

  const double ratio = flooded.samples.cycles_per_second() / healthy.samples.cycles_per_second();
  return {{{healthy, 1.0}, {flooded, ratio}}, "ratio_to_healthy"};
}

}  // namespace redlock::benchmark
