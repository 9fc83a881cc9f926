// Reports changes of node states to the observer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/base/printable.hpp"
#include "redlock/core/node/session.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::core {

/// Reports the state of a node to an observer when it differs from the state reported last. A node that is redialled
/// repeatedly stays *down* as long as it fails in the same way.
class NodeChanges {
 public:
  /// `observer`: may be null; then this object does nothing.
  NodeChanges(Observer* observer, std::size_t nodes) : observer_{observer}, reports_(observer ? nodes : 0) {}

  [[nodiscard]] bool are_observed() const noexcept { return observer_ != nullptr; }
  /// Reports the node if its state has changed. `bar`: why it does not vote although it is connected; null if it votes.
  void check(NodeIndex node, const Session& session, const Trouble* bar = nullptr) {
    if (!observer_ || session.state() == Session::State::idle) return;
    Report& last = reports_[node];
    const NodeState state = state_of(session, bar, last.state);
    const Trouble* const trouble = trouble_of(state, session, bar, last);
    const auto status = trouble ? std::optional{trouble->status} : std::nullopt;
    if (last.state == state && last.trouble == status) return;
    const bool was_connected = last.state == NodeState::ready || last.state == NodeState::barred;
    last.state = state;
    last.trouble = status;
    const bool again = session.ready() && !was_connected && std::exchange(last.connected, true);
    observer_->node_changed(
        {.node = session.name(),
         .state = state,
         .trouble = status,
         .message = trouble ? printable(trouble->message, std::string::npos) : std::string{},
         .reconnected = again});
  }

 private:
  using NodeState = Observer::NodeState;
  struct Report {
    std::optional<NodeState> state;
    std::optional<NodeStatus> trouble;
    bool connected = false;  // the node has been connected before
  };

  [[nodiscard]] static NodeState state_of(const Session& session, const Trouble* bar,
                                          std::optional<NodeState> before) noexcept {
    if (session.ready()) return bar ? NodeState::barred : NodeState::ready;
    const bool is_connecting = session.is_dialling() && before != NodeState::down;
    return is_connecting ? NodeState::connecting : NodeState::down;
  }
  [[nodiscard]] static const Trouble* trouble_of(NodeState state, const Session& session, const Trouble* bar,
                                                 const Report& last) noexcept {
    if (state == NodeState::barred) return bar;
    const bool is_first = state == NodeState::connecting && !last.connected;
    return state == NodeState::ready || is_first ? nullptr : &session.trouble();
  }

  Observer* observer_;
  std::vector<Report> reports_;  // the last report, by node
};

}  // namespace redlock::inline v1::core
