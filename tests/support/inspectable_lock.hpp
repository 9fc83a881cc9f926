// A Redlock whose internal state tests can read.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "api/client.hpp"
#include "redlock/endpoint.hpp"
#include "redlock/lock_client.hpp"
#include "redlock/options.hpp"

namespace redlock::testing {

/// Behaves like `Redlock`, has the same construction, and gives access to the state of its engine. Threads:
/// every call from any thread.
class InspectableLock : public LockClient {
 public:
  explicit InspectableLock(const std::vector<Endpoint>& nodes, Options options = {})
      : InspectableLock{std::make_shared<redlock::detail::Client>(nodes, std::move(options))} {}

  /// Shifts the wall clock of this client by `skew`.
  void skew_proposals(std::chrono::microseconds skew) { client_->skew_proposals(skew); }
  /// Number of acquisitions that needed a second round.
  [[nodiscard]] std::uint64_t second_rounds() const { return client_->second_rounds(); }

  /// Returns what `look(const core::Engine&)` returns. Calls it under the client's mutex.
  template <class Look>
  auto look(Look&& look) const {
    return client_->reactor().look(std::forward<Look>(look));
  }
  /// Number of operations under way.
  [[nodiscard]] std::size_t active() const {
    return look([](const core::Engine& engine) { return engine.active(); });
  }
  /// Number of replies still to come from all nodes.
  [[nodiscard]] std::size_t pending() const {
    return look([](const core::Engine& engine) {
      std::size_t sum = 0;
      for (core::NodeIndex node = 0; node < engine.nodes(); ++node) sum += engine.session(node).pending();
      return sum;
    });
  }
  /// Number of bytes that wait for room in the node's socket.
  [[nodiscard]] std::size_t unsent(core::NodeIndex node) const {
    return look([node](const core::Engine& engine) { return engine.session(node).unsent().size(); });
  }
  [[nodiscard]] bool ready(core::NodeIndex node) const {
    return look([node](const core::Engine& engine) { return engine.session(node).ready(); });
  }
  /// Number of nodes with a ready connection.
  [[nodiscard]] std::size_t ready_nodes() const {
    return look([](const core::Engine& engine) {
      std::size_t count = 0;
      for (core::NodeIndex node = 0; node < engine.nodes(); ++node) count += engine.session(node).ready();
      return count;
    });
  }
  /// Number of replies that arrived after the end of their operation.
  [[nodiscard]] std::size_t late_replies() const {
    return look([](const core::Engine& engine) { return engine.late_replies(); });
  }

 private:
  explicit InspectableLock(std::shared_ptr<redlock::detail::Client> client)
      : LockClient{client}, client_{std::move(client)} {}

  std::shared_ptr<redlock::detail::Client> client_;
};

}  // namespace redlock::testing
