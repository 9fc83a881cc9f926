// A Redlock whose internal state tests can read.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "api/client.hpp"
#include "api/socket_shell.hpp"
#include "redlock/endpoint.hpp"
#include "redlock/lock_client.hpp"
#include "redlock/options.hpp"

namespace redlock::inline v1::detail {

/// Reads what production code keeps to itself.
struct TestAccess {
  template <class Look>
  static auto look(Client& client, Look&& look) {
    Reactor& reactor = static_cast<SocketShell&>(*client.shell_).reactor_;
    const std::lock_guard lock{reactor.mutex_};
    return std::forward<Look>(look)(std::as_const(reactor.engine_));
  }
};

}  // namespace redlock::inline v1::detail

namespace redlock::testing {

/// Behaves like `Redlock`, has the same construction, and gives access to the state of its engine. Threads:
/// every call from any thread.
class InspectableLock : public LockClient {
 public:
  explicit InspectableLock(const std::vector<Endpoint>& nodes, Options options = {})
      : InspectableLock{nodes, std::move(options), std::make_shared<Skew>()} {}

  /// Shifts the wall clock of this client by `skew`.
  void skew_proposals(std::chrono::microseconds skew) { *skew_ = skew; }

  /// Returns what `look(const core::Engine&)` returns. Calls it under the client's mutex.
  template <class Look>
  auto look(Look&& look) const {
    return redlock::detail::TestAccess::look(*client_, std::forward<Look>(look));
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
  /// Returns true if the node's listener is ready.
  [[nodiscard]] bool listens(core::NodeIndex node) const {
    return look([node](const core::Engine& engine) { return engine.session(engine.nodes() + node).ready(); });
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
  using Skew = std::atomic<std::chrono::microseconds>;

  InspectableLock(const std::vector<Endpoint>& nodes, Options options, const std::shared_ptr<Skew>& skew)
      : InspectableLock{std::make_shared<redlock::detail::Client>(
                            nodes, std::move(options),
                            [skew] { return redlock::detail::system_wall_clock() + skew->load(); }),
                        skew} {}
  InspectableLock(std::shared_ptr<redlock::detail::Client> client, std::shared_ptr<Skew> skew)
      : LockClient{client}, client_{std::move(client)}, skew_{std::move(skew)} {}

  std::shared_ptr<redlock::detail::Client> client_;
  std::shared_ptr<Skew> skew_;
};

}  // namespace redlock::testing
