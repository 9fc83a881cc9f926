// Simulates a bad network in front of several servers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "redlock/endpoint.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/network/proxy.hpp"

namespace redlock::testing {

/// A proxy in front of every node.
class Proxies {
 public:
  explicit Proxies(const LocalNodes& nodes) {
    for (int node = 0; node < nodes.size(); ++node)
      proxies_.push_back(std::make_unique<Proxy>(nodes.port(node)));
  }

  Proxy& operator[](std::size_t node) { return *proxies_.at(node); }
  auto begin() { return proxies_.begin(); }
  auto end() { return proxies_.end(); }

  [[nodiscard]] std::vector<std::string> urls() const {
    std::vector<std::string> all;
    for (const auto& proxy : proxies_) all.push_back(proxy->url());
    return all;
  }
  [[nodiscard]] std::vector<Endpoint> endpoints() const {
    const std::vector<std::string> all = urls();
    return {all.begin(), all.end()};
  }
  void set_delay(Proxy::Duration to_server, Proxy::Duration to_client) {
    for (const auto& proxy : proxies_) proxy->set_delay(to_server, to_client);
  }
  [[nodiscard]] std::uint64_t late(Proxy::Duration bound, Direction direction = Direction::to_client) const {
    std::uint64_t sum = 0;
    for (const auto& proxy : proxies_) sum += proxy->late(bound, direction);
    return sum;
  }

 private:
  std::vector<std::unique_ptr<Proxy>> proxies_;
};

}  // namespace redlock::testing
