// A look at several servers at once, from outside of the library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/endpoint.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/network/raw_client.hpp"

namespace redlock::testing {

/// The nodes as a lock wants them.
[[nodiscard]] inline std::vector<Endpoint> endpoints(const LocalNodes& nodes) {
  const std::vector<std::string> urls = nodes.urls();
  return {urls.begin(), urls.end()};
}

/// A plain client for each of some nodes. What it says is what the servers say, whatever the library thinks.
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

  /// On how many of them the key has this value.
  [[nodiscard]] int holding(std::string_view key, std::string_view value) {
    return count([&](RawClient& client) { return client.get(key) == value; });
  }
  /// On how many of them the key is there, whoever put it.
  [[nodiscard]] int having(std::string_view key) {
    return count([&](RawClient& client) { return client.command({"EXISTS", std::string{key}}) == "1"; });
  }
  /// How many of them have no lock at all. What remains of locks, their counters, does not matter.
  [[nodiscard]] int empty() {
    return count([](RawClient& client) { return client.locks().empty(); });
  }
  /// How often a command was executed, on all of them together.
  [[nodiscard]] std::uint64_t calls(std::string_view command) {
    std::uint64_t sum = 0;
    for (RawClient& client : clients_) sum += client.calls(command);
    return sum;
  }
  /// How often a lock with a token was asked for, granted or denied, on all of them together.
  [[nodiscard]] std::uint64_t attempts() {
    std::uint64_t sum = 0;
    for (RawClient& client : clients_) sum += client.attempts();
    return sum;
  }
  /// The same command to each.
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

}  // namespace redlock::testing
