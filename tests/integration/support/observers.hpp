// Plain clients that observe several servers without the library.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/endpoint.hpp"
#include "redlock/options.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/network/raw_client.hpp"

namespace redlock::testing {

/// The nodes as endpoints for a lock client.
[[nodiscard]] inline std::vector<Endpoint> endpoints(const LocalNodes& nodes) {
  const std::vector<std::string> urls = nodes.urls();
  return {urls.begin(), urls.end()};
}

/// A plain client per node. Reports what the servers store, independently of the library.
class Observers {
 public:
  explicit Observers(const LocalNodes& nodes) {
    for (int node = 0; node < nodes.size(); ++node) clients_.emplace_back(nodes.port(node));
  }
  Observers(const LocalNodes& nodes, const std::vector<int>& chosen) {
    for (const int node : chosen) clients_.emplace_back(nodes.port(node));
  }

  [[nodiscard]] std::size_t size() const noexcept { return clients_.size(); }
  RawClient& operator[](std::size_t which) { return clients_.at(which); }
  auto begin() { return clients_.begin(); }
  auto end() { return clients_.end(); }

  /// Number of servers on which the key has this value.
  [[nodiscard]] int holding(std::string_view key, std::string_view value) {
    return count([&](RawClient& client) { return client.get(key) == value; });
  }
  /// Number of servers on which the key exists, with any value.
  [[nodiscard]] int having(std::string_view key) {
    return count([&](RawClient& client) { return client.command({"EXISTS", std::string{key}}) == "1"; });
  }
  /// Number of servers without any lock. Counters of former locks do not matter.
  [[nodiscard]] int empty() {
    return count([](RawClient& client) { return client.locks().empty(); });
  }
  /// How often a command was executed, summed over all servers.
  [[nodiscard]] std::uint64_t calls(std::string_view command) {
    std::uint64_t sum = 0;
    for (RawClient& client : clients_) sum += client.calls(command);
    return sum;
  }
  /// How many commands all servers have executed, among them those of this class and those of scripts.
  [[nodiscard]] std::uint64_t commands() {
    std::uint64_t sum = 0;
    for (RawClient& client : clients_) sum += std::stoull(client.info("total_commands_processed").value());
    return sum;
  }
  /// Number of requests for a lock with a token, granted or denied, summed over all servers.
  [[nodiscard]] std::uint64_t attempts() {
    std::uint64_t sum = 0;
    for (RawClient& client : clients_) sum += client.attempts();
    return sum;
  }
  /// Sends the same command to every server.
  void command(const std::vector<std::string>& arguments) {
    for (RawClient& client : clients_) client.command(arguments);
  }

 private:
  template <class Predicate>
  [[nodiscard]] int count(Predicate predicate) {
    return static_cast<int>(std::count_if(clients_.begin(), clients_.end(), predicate));
  }

  std::vector<RawClient> clients_;
};

/// For clients whose calls must succeed. With the default, 250 ms or a tenth of the ttl, a busy machine answers a call or a
/// renewal too late now and then.
inline const Options unhurried{.node_timeout = std::chrono::seconds{10}};

/// Two clients of the same nodes, and what observes these.
struct TwoClients {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  Redlock others{endpoints(nodes)};
};

}  // namespace redlock::testing
