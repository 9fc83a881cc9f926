// What the first one in line knows about the lock on each node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/time.hpp"

namespace redlock::inline v1::core {

/// On which nodes the lock, or each seat, may be free. Each node is read once, and then again after each own command that writes
/// the key. Between reads, an invalidation message or the end of the ttl that was read makes a key possibly free.
class LockView {
 public:
  explicit LockView(std::size_t nodes) : nodes_(nodes) {}

  /// Nothing is known: all nodes are to be read.
  void forget() {
    for (Node& node : nodes_) forget(node);
  }
  void forget(NodeIndex node) { forget(nodes_[node]); }
  /// The client has just released the lock, or this seat, itself.
  void all_free(std::size_t seat) {
    for (NodeIndex node = 0; node < nodes_.size(); ++node) {
      changed(node, seat);
      nodes_[node].is_unread = false;
    }
  }
  /// All nodes are to be read again when they have answered; what is known stands until then.
  void refresh() {
    for (Node& node : nodes_) node.is_stale = true;
  }
  void changed(NodeIndex node, std::size_t seat) {
    std::vector<Key>& keys = nodes_[node].keys;
    if (keys.size() <= seat) keys.resize(seat + 1);
    keys[seat] = {.free_at = Time::min(), .changed_since_read = true};
  }

  /// A read was sent.
  void asked(NodeIndex node, Time read_again_at) {
    Node& view = nodes_[node];
    view.is_unread = view.is_stale = false;
    for (Key& key : view.keys) key.changed_since_read = false;
    view.read_again_at = read_again_at;
    ++view.unanswered;
  }
  /// `free_at`: when the lock, or each seat, expires; `never` if it does not. Of several reads only the last one counts. A message
  /// may overtake the reply of the read that armed the key, so a read says nothing if a message has come since it was sent.
  void answered(NodeIndex node, std::span<const Time> free_at) {
    Node& view = nodes_[node];
    if (view.unanswered > 0) --view.unanswered;
    if (view.unanswered > 0 || view.is_unread) return;
    view.has_told = true;
    if (view.keys.size() < free_at.size()) view.keys.resize(free_at.size());
    for (std::size_t seat = 0; seat < free_at.size(); ++seat)
      if (!view.keys[seat].changed_since_read) view.keys[seat].free_at = free_at[seat];
  }
  /// The connection was lost, so no more replies come.
  void disconnected(NodeIndex node) {
    nodes_[node].unanswered = 0;
    forget(nodes_[node]);
  }

  [[nodiscard]] bool may_be_free(NodeIndex node, std::size_t seat, Time now) const noexcept {
    const std::vector<Key>& keys = nodes_[node].keys;
    return seat < keys.size() && keys[seat].free_at <= now;
  }
  /// The node has told what it has.
  [[nodiscard]] bool has_told(NodeIndex node) const noexcept { return nodes_[node].has_told; }
  [[nodiscard]] bool wants_read(NodeIndex node, Time now) const noexcept {
    const Node& view = nodes_[node];
    return view.is_unread || (view.unanswered == 0 && (view.is_stale || now >= view.read_again_at));
  }
  /// When a key becomes free by itself, or a node is to be read again. `after`: leaves out what was due by then.
  [[nodiscard]] Time timer(Time after) const noexcept {
    Time first = never;
    for (const Node& node : nodes_) {
      if (node.read_again_at > after) first = std::min(first, node.read_again_at);
      for (const Key& key : node.keys)
        if (key.free_at > after) first = std::min(first, key.free_at);
    }
    return first;
  }

 private:
  struct Key {
    Time free_at = never;
    bool changed_since_read = false;
  };
  struct Node {
    std::vector<Key> keys;  // of the lock, or of the seats of which something is known
    bool is_unread = true;  // nothing that was told before counts
    bool is_stale = false;
    bool has_told = false;
    std::uint32_t unanswered = 0;  // reads
    Time read_again_at = never;    // for nodes that send no messages
  };
  static void forget(Node& node) noexcept {
    node.keys.clear();
    node.is_unread = true;
    node.is_stale = node.has_told = false;
    node.read_again_at = never;
  }

  std::vector<Node> nodes_;
};

}  // namespace redlock::inline v1::core
