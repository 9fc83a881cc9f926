// The addresses of local servers in the forms that the contestants take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "redlock/endpoint.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"

namespace redlock::benchmark {

inline std::vector<std::uint16_t> ports_of(const testing::LocalNodes& servers) {
  std::vector<std::uint16_t> ports;
  for (int i = 0; i < servers.size(); ++i) ports.push_back(servers.port(i));
  return ports;
}

/// Makes the restart guard of `client` mark all servers. Returns the beginning of their markers.
std::string mark(Redlock& client, const testing::LocalNodes& servers);

inline std::vector<Endpoint> endpoints_of(const testing::LocalNodes& servers) {
  std::vector<Endpoint> endpoints;
  for (int i = 0; i < servers.size(); ++i) endpoints.emplace_back(servers.url(i));
  return endpoints;
}

}  // namespace redlock::benchmark
