// Watches the keys of leases for changes by others.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/backoff.hpp"
#include "redlock/core/base/ref.hpp"
#include "redlock/core/lease/due_order.hpp"
#include "redlock/core/lease/look_limit.hpp"
#include "redlock/core/lease/watched_lease.hpp"
#include "redlock/core/node/session.hpp"

namespace redlock::inline v1::core {

/// A renewed lease is watched only if it is held for longer, unless its holder asks to be told of its loss.
inline constexpr Span a_moment = std::chrono::seconds{1};

/// Notices at once when another client changes the key of a watched lease (CLIENT TRACKING).
///
/// Each node has a second connection, the *listener*, which receives invalidation messages. It is made when a lease is
/// watched for the first time. The server remembers which keys this client has read after CLIENT CACHING YES (such a
/// read *arms* the key), and sends one invalidation message for the next change. A change is not a loss yet: the key is
/// read again, which also arms it again. Our own writes cause no message but disarm the key, so every extension is
/// followed by a read in the same batch. When either connection is lost, all keys of that node count as disarmed and
/// are read again.
///
/// A node is *blind* if it has no listener, or if its server or ACL does not allow tracking. On blind nodes, leases are
/// read every tenth of their ttl. Losing a listener causes no error, so it is sent a PING regularly. A listener that
/// receives too many messages is closed for a minute, so that no node can keep the client busy (`LookLimit`).
class KeyWatcher final : WatchedLease::Watcher {
 public:
  /// `listeners`: one for each node.
  KeyWatcher(std::vector<Session::Settings> listeners, std::uint64_t seed) : random_{seed} {
    for (Session::Settings& settings : listeners) {
      ping_every_ = settings.silence;
      nodes_.push_back({Session{std::move(settings)}});
    }
  }
  KeyWatcher(const KeyWatcher&) = delete;
  KeyWatcher& operator=(const KeyWatcher&) = delete;
  ~KeyWatcher() override {
    for (const Ref<WatchedLease>& watch : watches_) watch->lease()->watch = nullptr;
  }

  /// Starts watching the lease, until it is over or released, and first reads its key at `first_read` or earlier. A lease
  /// that has ended by then costs nothing.
  void add(const std::shared_ptr<LeaseState>& lease, Time now, Time first_read) {
    if (!lease->in_force(now)) return;
    if (!lease->watch) {
      lease->watch = watches_.insert(Ref<WatchedLease>{new WatchedLease{lease, nodes_.size(), *this}})->get();
      lease->watch->unread = ~NodeSet{0};
    }
    if (lease->watch->unread != 0) schedule(*lease->watch, first_read);
  }

  // ── from the engine ──────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] Session& listener(NodeIndex node) noexcept { return nodes_[node].listener; }
  [[nodiscard]] const Session& listener(NodeIndex node) const noexcept { return nodes_[node].listener; }

  /// The node's connection for commands has become ready or has failed.
  void connected(NodeIndex node, bool is_ready, Time now) {
    nodes_[node].is_connected = is_ready;
    nodes_[node].tracking = Tracking::off;
    if (is_ready) read_all_soon(node, now);
  }
  void listener_disconnected(NodeIndex node, Trouble trouble, Time now) {
    listener(node).disconnected(std::move(trouble), now);
    disarm_all(node, now);
  }
  /// The listener has received a reply or an invalidation message.
  void received(NodeIndex node, const Reply& reply, Time now) {
    Session& session = listener(node);
    const auto& parts = reply.elements;
    if (session.ready() && parts.size() == 3 && parts[0].text == "message")
      return changed(node, parts[2], now);
    const Session::State before = session.state();
    session.answered(reply, now);
    if (session.state() == before) return;
    if (session.state() == Session::State::down) postpone_redial(node, session.trouble(), now);
    if (ping_at_ < now) ping_at_ = now + ping_every_;
    disarm_all(node, now);
  }

  [[nodiscard]] Time timer() const noexcept {
    Time first = due_.empty() ? never : due_.begin()->first;
    for (const Node& node : nodes_) {
      if (is_needed(node.listener)) first = std::min(first, node.listener.timer());
      if (node.listener.ready() && !watches_.empty()) first = std::min(first, ping_at_);
    }
    return first;
  }
  /// Call only after reading every readable connection.
  void on_time(Time now, Outbox& outbox) {
    for (NodeIndex node = 0; node < nodes_.size(); ++node) {
      Session& session = listener(node);
      if (is_needed(session) && session.on_time(now)) disarm_all(node, now);
    }
    if (!watches_.empty() && now >= ping_at_) ping(now);
    for (std::size_t count = 0; count < batch && !due_.empty() && due_.begin()->first <= now; ++count)
      read_unread(*due_.begin()->second, now, outbox);
  }
  /// Something must be sent or received even if no caller waits for it.
  [[nodiscard]] bool needs_attention() const noexcept {
    return std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) {
      const Session& session = node.listener;
      return session.has_errand() || session.is_dialling() || !session.unsent().empty();
    });
  }

  /// Leases that were lost. The caller releases their remaining copies and clears the list.
  std::vector<std::shared_ptr<LeaseState>>& lost() noexcept { return lost_; }
  /// A warning for the user; at most one in a client's life.
  std::optional<std::string> take_warning() noexcept { return std::exchange(warning_, std::nullopt); }
  [[nodiscard]] std::size_t size() const noexcept { return watches_.size(); }

 private:
  enum class Tracking : std::uint8_t { off, on, refused };
  struct Node {
    Session listener;
    bool is_connected = false;  // the connection for commands
    Tracking tracking = Tracking::off;
    LookLimit limit = {};
  };
  struct ByKey {
    using is_transparent = void;
    static std::string_view key(const Ref<WatchedLease>& watch) noexcept { return watch->lease()->claim.key; }
    static std::string_view key(std::string_view key) noexcept { return key; }
    template <class One, class Other>
    bool operator()(const One& one, const Other& other) const noexcept {
      return key(one) < key(other);
    }
  };
  static constexpr Span redial_delay_after_refusal = std::chrono::minutes{1};
  static constexpr std::size_t batch = 512;

  // ── for the watched leases ───────────────────────────────────────────────────────────────────────────────

  void written(WatchedLease& watch, NodeIndex node, Outbox& outbox) override {
    if (!read(watch, node, outbox)) read_soon(watch, node, Time{});
  }
  /// Reads the key on one node and arms it there. Returns false if the command cannot be sent now; then the caller tries
  /// again later. Does nothing for a node that is not connected: it is read when it connects.
  bool read(WatchedLease& watch, NodeIndex index, Outbox& outbox) {
    Node& node = nodes_[index];
    if (!node.is_connected) return true;
    if (!is_blind(node)) {
      if (node.tracking == Tracking::off) {
        const std::string id = std::to_string(node.listener.client_id());
        if (!watch.send(index, WatchedLease::tracking,
                        command({"CLIENT", "TRACKING", "ON", "REDIRECT", id, "OPTIN", "NOLOOP"}), outbox))
          return false;
        node.tracking = Tracking::on;
      }
      if (!watch.send(index, WatchedLease::caching, command({"CLIENT", "CACHING", "YES"}), outbox))
        return false;
    }
    return watch.send(index, WatchedLease::value, watch.read_command(), outbox);
  }
  void tracking_refused(NodeIndex node, const Trouble& trouble, Time now) override {
    if (nodes_[node].tracking != Tracking::on) return;  // the reply is outdated
    disarm_all(node, now);
    nodes_[node].tracking = Tracking::refused;
    // It is not a refusal if the listener's connection was lost before the server could redirect messages to it.
    if (!trouble.message.starts_with("ERR The client ID")) warn_of_refusal(node, trouble);
  }
  void lost(WatchedLease& watch) override { lost_.push_back(watch.lease()); }
  void stop(WatchedLease& watch) noexcept override {
    unschedule(watch);
    const auto [first, last] = watches_.equal_range(std::string_view{watch.lease()->claim.key});
    watches_.erase(
        std::find_if(first, last, [&](const Ref<WatchedLease>& each) { return each.get() == &watch; }));
  }

  // ── what is known of the nodes ───────────────────────────────────────────────────────────────────────────

  [[nodiscard]] static bool is_blind(const Node& node) noexcept {
    return !node.listener.ready() || node.tracking == Tracking::refused;
  }
  [[nodiscard]] NodeSet blind_nodes() const noexcept {
    NodeSet blind = 0;
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].is_connected && is_blind(nodes_[node])) blind |= set_of(node);
    return blind;
  }
  /// A listener that is down is not redialled while no lease is watched.
  [[nodiscard]] bool is_needed(const Session& session) const noexcept {
    return session.state() != Session::State::down || !watches_.empty();
  }
  /// A server that refuses a listener's handshake is likely to refuse the next one.
  void postpone_redial(NodeIndex node, const Trouble& trouble, Time now) {
    listener(node).postpone_redial(later(now, redial_delay_after_refusal));
    warn_of_refusal(node, trouble);
  }
  void warn_of_refusal(NodeIndex node, const Trouble& trouble) {
    warn(node,
         " sends no invalidation messages, so the client polls it every tenth of a ttl: " + trouble.message);
  }
  void warn(NodeIndex node, std::string_view what) {
    if (!nodes_[node].is_connected || std::exchange(has_warned_, true)) return;
    warning_ = std::string{listener(node).name()}.append(what);
  }
  /// Closes the listener of a node that sends too many messages.
  void flooded(NodeIndex node, Time now) {
    listener(node).refuse({NodeStatus::protocol_error, "too many invalidation messages"}, now,
                          redial_delay_after_refusal);
    warn(node,
         " sends too many invalidation messages, so the client polls it every tenth of a ttl for a minute");
    disarm_all(node, now);
  }
  void ping(Time now) {
    const std::string ping = command({"PING"});
    for (Node& node : nodes_)
      if (node.listener.ready() && node.listener.pending() == 0) node.listener.send(ping, {}, never, now);
    ping_at_ = now + ping_every_;
  }

  // ── reads ────────────────────────────────────────────────────────────────────────────────────────────────

  /// No key is armed on this node any more: reads all of them again.
  void disarm_all(NodeIndex node, Time now) {
    nodes_[node].tracking = Tracking::off;
    read_all_soon(node, now);
  }
  void read_all_soon(NodeIndex node, Time now) {
    for (const Ref<WatchedLease>& watch : watches_) read_soon(*watch, node, now);
  }
  void read_soon(WatchedLease& watch, NodeIndex node, Time now) {
    watch.unread |= set_of(node);
    // If all nodes are unread, the first read is already scheduled.
    if (watch.unread != ~NodeSet{0}) schedule(watch, now);
  }
  /// An invalidation message: these keys were changed. Without a list of keys, all may have been changed.
  void changed(NodeIndex node, const Reply& keys, Time now) {
    const bool names_keys = keys.is(Reply::Kind::array);
    const std::size_t looks = std::max<std::size_t>(names_keys ? keys.elements.size() : watches_.size(), 1);
    if (!nodes_[node].limit.allows(looks, watches_.size(), now)) return flooded(node, now);
    if (!names_keys) return read_all_soon(node, now);
    for (const Reply& key : keys.elements) {
      const auto [first, last] = watches_.equal_range(std::string_view{key.text});
      for (auto watch = first; watch != last; ++watch) read_soon(**watch, node, now);
    }
  }
  /// Reads the key on its unread nodes and on all blind ones.
  void read_unread(WatchedLease& watch, Time now, Outbox& outbox) {
    if (!watch.lease()->in_force(now)) return WatchedLease::stop(*watch.lease());
    unschedule(watch);
    for (Node& node : nodes_) node.listener.wake(now);
    const NodeSet wanted = std::exchange(watch.unread, 0) | blind_nodes();
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if ((wanted & set_of(node)) != 0 && !read(watch, node, outbox)) watch.unread |= set_of(node);
    if (watch.unread != 0 || blind_nodes() != 0) schedule(watch, now + pause_of(*watch.lease()));
  }
  [[nodiscard]] Span pause_of(const LeaseState& lease) noexcept {
    const Span pause =
        std::clamp<Span>(lease.claim.ttl / 10, std::chrono::milliseconds{5}, std::chrono::seconds{10});
    const auto chance =
        static_cast<Span::rep>(next_random(random_) >> 34U);  // nanoseconds, at most about a second
    return pause - Span{chance} % (pause / 4);
  }
  void schedule(WatchedLease& watch, Time when) {
    if (when >= watch.due) return;
    unschedule(watch);
    due_.emplace(when, &watch);
    watch.due = when;
  }
  void unschedule(WatchedLease& watch) noexcept {
    if (watch.due != never) due_.erase({std::exchange(watch.due, never), &watch});
  }

  std::uint64_t random_;
  std::vector<Node> nodes_;
  std::multiset<Ref<WatchedLease>, ByKey> watches_;
  std::set<std::pair<Time, WatchedLease*>, DueOrder> due_;
  std::vector<std::shared_ptr<LeaseState>> lost_;
  std::optional<std::string> warning_;
  bool has_warned_ = false;
  Span ping_every_{};
  Time ping_at_{};
};

}  // namespace redlock::inline v1::core
