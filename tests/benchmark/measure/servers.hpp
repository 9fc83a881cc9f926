// The addresses of local servers in the forms that the contestants take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmark/floor/cycle_commands.hpp"
#include "benchmark/floor/node_connection.hpp"
#include "redlock/endpoint.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"

namespace redlock::benchmark {

inline std::vector<std::uint16_t> ports_of(const testing::LocalNodes& servers) {
  std::vector<std::uint16_t> ports;
  for (int i = 0; i < servers.size(); ++i) ports.push_back(servers.port(i));
  return ports;
}

/// As raw contestants take them.
inline std::vector<RawAddress> addresses_of(const testing::LocalNodes& servers) {
  std::vector<RawAddress> addresses;
  for (const std::uint16_t port : ports_of(servers))
    addresses.push_back({port, servers.tls_options().ca_file});
  return addresses;
}

/// Makes the restart guard of `client` mark all servers. Returns how it words its commands to them from then on.
Wording mark(Redlock& client, const testing::LocalNodes& servers);

inline std::vector<Endpoint> endpoints_of(const testing::LocalNodes& servers) {
  std::vector<Endpoint> endpoints;
  for (int i = 0; i < servers.size(); ++i) endpoints.emplace_back(servers.url(i));
  return endpoints;
}

}  // namespace redlock::benchmark
