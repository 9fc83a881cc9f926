// The nodes of one client as their markers show them: reading and writing the markers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/core/operation/operation.hpp"
#include "redlock/core/restart_guard/guarded_node.hpp"
#include "redlock/core/wire/marker.hpp"

namespace redlock::inline v1::core {

/// What the restart guard has read, and its commands to the nodes. At most one reply is due from each node; a node that
/// has granted goes on granting while the guard looks at it again.
class MarkedNodes {
 public:
  using Standing = GuardedNode::Standing;

  /// `reader`: receives the replies, and passes them to `read`.
  MarkedNodes(std::size_t nodes, const MarkerKeys& keys, Operation& reader)
      : keys_{keys}, reader_{reader}, nodes_(nodes) {}
  MarkedNodes(const MarkedNodes&) = delete;
  MarkedNodes& operator=(const MarkedNodes&) = delete;

  // ── what is known ────────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] const std::vector<GuardedNode>& all() const noexcept { return nodes_; }
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  [[nodiscard]] GuardedNode& operator[](NodeIndex node) noexcept { return nodes_[node]; }
  [[nodiscard]] const GuardedNode& operator[](NodeIndex node) const noexcept { return nodes_[node]; }
  [[nodiscard]] std::size_t count(Standing standing) const noexcept {
    return static_cast<std::size_t>(
        std::count_if(nodes_.begin(), nodes_.end(),
                      [standing](const GuardedNode& node) { return node.standing == standing; }));
  }
  [[nodiscard]] std::size_t reached() const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(nodes_, &GuardedNode::is_reached));
  }
  [[nodiscard]] std::uint64_t replies_read() const noexcept { return events_; }
  void update(Time now, const ExpectedMarker& expected) {
    for (GuardedNode& node : nodes_) node.standing = node.standing_at(now, expected);
  }

  void connected(NodeIndex node, std::string_view run_id) {
    disconnected(node);
    nodes_[node].run_id = run_id;
  }
  void disconnected(NodeIndex node, bool is_second_name = false) {
    nodes_[node] = GuardedNode{};
    nodes_[node].is_second_name = is_second_name;
  }
  /// Gives the connection up if it does not lead to the server to which it was made.
  void read(NodeIndex node, const Reply& reply, bool durable, Time now, Outbox& outbox) {
    if (!nodes_[node].read(reply, keys_, durable, ++events_, now))
      outbox.give_up(node, *nodes_[node].failure);
  }

  // ── commands ─────────────────────────────────────────────────────────────────────────────────────────────

  /// Has no effect if a reply is due.
  void look(NodeIndex node, Time now, Outbox& outbox) { ask(node, look_command(keys_), now, outbox); }
  /// If a reply is due, looks when it was read: see `look_if_wanted`.
  void look_from_now(NodeIndex node, Time now, Outbox& outbox) {
    nodes_[node].is_wanted = nodes_[node].is_asked;
    look(node, now, outbox);
  }
  /// Call it when a reply was read and the node's standing is known.
  void look_if_wanted(NodeIndex node, Time now, Outbox& outbox) {
    if (nodes_[node].is_wanted) look_from_now(node, now, outbox);
  }
  /// The node does not vote until the reply is read.
  void mark(NodeIndex index, std::string_view deployment, const TtlLimits& limits,
            std::chrono::milliseconds quarantine, Time now, Outbox& outbox) {
    GuardedNode& node = nodes_[index];
    // A former replica has its master's name.
    const bool keeps_name =
        node.marker && (node.marker->run_id == node.run_id || node.is_only_one_with_its_name(nodes_));
    const std::string text = node.new_marker(deployment, nodes_.size(), limits, keeps_name);
    if (!node.is_asked && node.standing != Standing::away) node.standing = Standing::asked;
    ask(index, mark_command(keys_, node.text, text, quarantine, node.looked_at), now, outbox);
  }

  /// Whether all nodes that count were asked and read after this event. Looks again at those that were not.
  template <class Counts>
  bool were_read_after(std::uint64_t event, Counts counts, Time now, Outbox& outbox) {
    bool were_read = true;
    for (NodeIndex index = 0; index < nodes_.size(); ++index) {
      const GuardedNode& node = nodes_[index];
      if (!counts(node)) continue;
      were_read = were_read && node.asked_in >= event && !node.is_asked;
      if (node.asked_in < event) look(index, now, outbox);
    }
    return were_read;
  }
  /// Whether all markers were, at one moment, as they were read: they were read again, unchanged, after the last of them
  /// was read for the first time, and a text that is lost never returns. Otherwise looks again.
  bool were_so_at_one_moment(Time now, Outbox& outbox) {
    std::uint64_t last_change = 0;
    for (const GuardedNode& node : nodes_) last_change = std::max(last_change, node.changed_in);
    return were_read_after(
        last_change, [](const GuardedNode& node) { return node.is_reached(); }, now, outbox);
  }

 private:
  void ask(NodeIndex index, const std::string& command, Time now, Outbox& outbox) {
    GuardedNode& node = nodes_[index];
    if (node.standing == Standing::away || node.is_asked) return;
    const Trouble* refused = outbox.send(index, command, reader_, {.always_read = true});
    if (refused && node.standing == Standing::admitted) return;
    if (node.standing != Standing::admitted) node.standing = Standing::asked;
    node.asked_in = events_;
    node.is_asked = !refused;
    if (!refused) return;
    node.read_at = now;
    node.failure = *refused;
    node.standing = Standing::failed;
  }

  const MarkerKeys& keys_;
  Operation& reader_;
  std::vector<GuardedNode> nodes_;
  std::uint64_t events_ = 0;  // replies that were read
};

}  // namespace redlock::inline v1::core
