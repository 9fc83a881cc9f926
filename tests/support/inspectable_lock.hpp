// A Redlock that can be looked into.
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

/// The same as `Redlock`, made the same way; its engine can be asked what it still has to do. Threads: every
/// call from any thread.
class InspectableLock : public LockClient {
 public:
  explicit InspectableLock(const std::vector<Endpoint>& nodes, Options options = {})
      : InspectableLock{std::make_shared<redlock::detail::Client>(nodes, std::move(options))} {}

  /// From now on this client's wall clock is off by so much.
  void skew_proposals(std::chrono::microseconds skew) { client_->skew_proposals(skew); }
  /// Acquisitions for which some nodes were asked a second time.
  [[nodiscard]] std::uint64_t second_rounds() const { return client_->second_rounds(); }

  /// What `look(const core::Engine&)` returns, under the client's mutex.
  template <class Look>
  auto look(Look&& look) const {
    return client_->reactor().look(std::forward<Look>(look));
  }
  /// Calls under way.
  [[nodiscard]] std::size_t active() const {
    return look([](const core::Engine& engine) { return engine.active(); });
  }
  /// Replies that are still to come, from all nodes.
  [[nodiscard]] std::size_t pending() const {
    return look([](const core::Engine& engine) {
      std::size_t sum = 0;
      for (core::NodeIndex node = 0; node < engine.nodes(); ++node) sum += engine.session(node).pending();
      return sum;
    });
  }
  /// Bytes that wait for room in a node's socket.
  [[nodiscard]] std::size_t unsent(core::NodeIndex node) const {
    return look([node](const core::Engine& engine) { return engine.session(node).unsent().size(); });
  }
  [[nodiscard]] bool ready(core::NodeIndex node) const {
    return look([node](const core::Engine& engine) { return engine.session(node).ready(); });
  }
  /// How many nodes have a connection in use.
  [[nodiscard]] std::size_t ready_nodes() const {
    return look([](const core::Engine& engine) {
      std::size_t count = 0;
      for (core::NodeIndex node = 0; node < engine.nodes(); ++node) count += engine.session(node).ready();
      return count;
    });
  }
  /// Replies that came after their operation was over.
  [[nodiscard]] std::size_t late_replies() const {
    return look([](const core::Engine& engine) { return engine.late_replies(); });
  }

 private:
  explicit InspectableLock(std::shared_ptr<redlock::detail::Client> client)
      : LockClient{client}, client_{std::move(client)} {}

  std::shared_ptr<redlock::detail::Client> client_;
};

}  // namespace redlock::testing
