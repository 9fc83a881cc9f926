// The addresses of local servers, as the contestants take them.
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

/// Has a client's guard mark them all. What their markers begin with.
std::string mark(Redlock& client, const testing::LocalNodes& servers);

inline std::vector<Endpoint> endpoints_of(const testing::LocalNodes& servers) {
  std::vector<Endpoint> endpoints;
  for (int i = 0; i < servers.size(); ++i) endpoints.emplace_back(servers.url(i));
  return endpoints;
}

}  // namespace redlock::benchmark
