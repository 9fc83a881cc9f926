// Which changes of nodes are worth telling.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/node/session.hpp"
#include "redlock/metrics/observer.hpp"

namespace redlock::inline v1::core {

/// Tells an observer what has become of the nodes, when it is not what was told last. A node that is redialled again and
/// again is *down* all the time, however often that fails in the same way.
class NodeChanges {
 public:
  /// `observer`: may be null, then nothing happens here.
  NodeChanges(Observer* observer, std::size_t nodes) : observer_{observer}, told_(observer ? nodes : 0) {}

  /// Something may have changed. `bar`: why it does not vote although it is connected; null: it votes.
  void look(NodeIndex node, const Session& session, const Trouble* bar = nullptr) {
    if (!observer_ || session.state() == Session::State::idle) return;
    Told& told = told_[node];
    const NodeState state = state_of(session, bar, told.state);
    const Trouble* const trouble = trouble_of(state, session, bar, told);
    const auto status = trouble ? std::optional{trouble->status} : std::nullopt;
    if (told.state == state && told.trouble == status) return;
    const bool was_connected = told.state == NodeState::ready || told.state == NodeState::barred;
    told.state = state;
    told.trouble = status;
    const bool again = session.ready() && !was_connected && std::exchange(told.connected, true);
    observer_->node_changed({.node = session.name(),
                             .state = state,
                             .trouble = status,
                             .message = trouble ? trouble->message : std::string{},
                             .reconnected = again});
  }

 private:
  using NodeState = Observer::NodeState;
  struct Told {
    std::optional<NodeState> state;
    std::optional<NodeStatus> trouble;
    bool connected = false;  // it was once
  };

  [[nodiscard]] static NodeState state_of(const Session& session, const Trouble* bar,
                                          std::optional<NodeState> before) noexcept {
    if (session.ready()) return bar ? NodeState::barred : NodeState::ready;
    const bool hopeful = session.is_dialling() && before != NodeState::down;
    return hopeful ? NodeState::connecting : NodeState::down;
  }
  [[nodiscard]] static const Trouble* trouble_of(NodeState state, const Session& session, const Trouble* bar,
                                                 const Told& told) noexcept {
    if (state == NodeState::barred) return bar;
    const bool is_first = state == NodeState::connecting && !told.connected;
    return state == NodeState::ready || is_first ? nullptr : &session.trouble();
  }

  Observer* observer_;
  std::vector<Told> told_;
};

}  // namespace redlock::inline v1::core
