// What the first one in line knows about the lock on each node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::core {

/// Which nodes may be free. Each node is read once, and then again after each own command that writes the key. Between
/// reads, an invalidation message or the end of the ttl that was read makes a node possibly free.
class LockView {
 public:
  explicit LockView(std::size_t nodes) : nodes_(nodes) {}

  /// Nothing is known: all nodes are to be read.
  void forget() {
    for (Node& node : nodes_) forget(node);
  }
  void forget(NodeIndex node) { forget(nodes_[node]); }
  /// The client has just released the lock itself.
  void all_free() {
    for (Node& node : nodes_) {
      node.may_be_free = node.changed_since_read = true;
      node.is_unread = false;
    }
  }
  /// All nodes are to be read again; what is known stands until then.
  void refresh() {
    for (Node& node : nodes_) node.is_unread = true;
  }
  void changed(NodeIndex node) {
    nodes_[node].may_be_free = true;
    nodes_[node].changed_since_read = true;
  }

  /// A read was sent.
  void asked(NodeIndex node, Time read_again_at) {
    Node& view = nodes_[node];
    view.is_unread = false;
    view.changed_since_read = false;
    view.read_again_at = read_again_at;
    ++view.unanswered;
  }
  /// `free_at`: when the key expires; none if it never does. Of several reads only the last one counts. A message may
  /// overtake the reply of the read that armed the key, so a read says nothing if a message has come since it was sent.
  void answered(NodeIndex node, std::optional<Time> free_at, Time now) {
    Node& view = nodes_[node];
    if (view.unanswered > 0) --view.unanswered;
    if (view.unanswered > 0 || view.changed_since_read || view.is_unread) return;
    view.may_be_free = free_at && *free_at <= now;
    view.free_at = free_at.value_or(never);
  }
  /// The connection was lost, so no more replies come.
  void disconnected(NodeIndex node) {
    nodes_[node].unanswered = 0;
    forget(nodes_[node]);
  }

  [[nodiscard]] bool may_be_free(NodeIndex node, Time now) const noexcept {
    return nodes_[node].may_be_free || nodes_[node].free_at <= now;
  }
  [[nodiscard]] bool wants_read(NodeIndex node, Time now) const noexcept {
    return nodes_[node].is_unread || now >= nodes_[node].read_again_at;
  }
  /// When a node becomes free by itself, or is to be read again. `after`: leaves out what was due by then.
  [[nodiscard]] Time timer(Time after) const noexcept {
    Time first = never;
    for (const Node& node : nodes_) {
      if (node.read_again_at > after) first = std::min(first, node.read_again_at);
      if (!node.may_be_free && node.free_at > after) first = std::min(first, node.free_at);
    }
    return first;
  }

 private:
  struct Node {
    bool may_be_free = false;
    bool is_unread = true;
    bool changed_since_read = false;
    std::uint32_t unanswered = 0;  // reads
    Time free_at = never;
    Time read_again_at = never;  // for nodes that send no messages
  };
  static void forget(Node& node) noexcept {
    node.may_be_free = false;
    node.is_unread = true;
    node.free_at = node.read_again_at = never;
  }

  std::vector<Node> nodes_;
};

}  // namespace redlock::inline v1::core
