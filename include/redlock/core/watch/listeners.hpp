// The second connections to all nodes, which report changed keys.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/printable.hpp"
#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/node/session.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/watch/listener.hpp"
#include "redlock/core/watch/watcher.hpp"
#include "redlock/core/wire/handshake.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// Tells watchers at once when another client changes a key that this client has read. Each node has a *listener* for
/// that, a second connection, which is made when a key is watched for the first time.
///
/// A node is *blind* if it has no listener, or if its server or ACL does not allow tracking. Losing a listener causes no
/// error, so it is sent a PING regularly. A listener that receives too many messages is closed for a minute, so that no
/// node can keep the client busy (`LookLimit`).
class Listeners {
 public:
  /// `nodes`: the settings of the connections for commands.
  explicit Listeners(std::vector<Session::Settings> nodes) {
    all_.reserve(nodes.size());
    for (Session::Settings& settings : nodes) {
      ping_every_ = settings.silence;
      all_.emplace_back(std::move(settings));
    }
  }
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;

  // ── from the watchers ────────────────────────────────────────────────────────────────────────────────────

  /// Tells this watcher, too, from now on. It must exist as long as there are events.
  void add(Watcher& watcher) { watchers_.push_back(&watcher); }
  /// So many keys more are watched, or less. While there are any, lost listeners are replaced, and silent ones noticed.
  void begin_watch(std::size_t keys = 1) noexcept { watched_ += keys; }
  void end_watch(std::size_t keys = 1) noexcept { watched_ -= keys; }
  /// Makes the connections on first use, and when the pause after a refusal is over.
  void wake(Time now) {
    for (Listener& each : all_) each.session.wake(now);
  }

  /// Makes the next command of `sender` to this node arm the key that it reads; a blind node remains blind. Returns false
  /// if the commands for this cannot be sent now. The steps identify their replies: if one is an error, the sender calls
  /// `tracking_refused`. Precondition: the node is connected.
  bool arm(NodeIndex node, Operation& sender, Step tracking, Step caching, Outbox& outbox) {
    return all_[node].arm(node, sender, tracking, caching, outbox);
  }
  void tracking_refused(NodeIndex node, const Trouble& trouble, Time now) {
    if (!all_[node].refuse_tracking()) return;
    tell_all_changed(node, now);
    // It is not a refusal if the listener's connection was lost before the server could redirect messages to it.
    if (!trouble.message.starts_with("ERR The client ID")) warn_of_refusal(node, trouble);
  }

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  /// The node's connection for commands is ready.
  [[nodiscard]] bool is_connected(NodeIndex node) const noexcept { return all_[node].is_node_connected; }
  [[nodiscard]] bool is_blind(NodeIndex node) const noexcept { return all_[node].is_blind(); }
  /// Those of the connected nodes that are blind.
  [[nodiscard]] NodeSet blind_nodes() const noexcept {
    NodeSet blind = 0;
    for (NodeIndex node = 0; node < size(); ++node)
      if (is_connected(node) && is_blind(node)) blind |= set_of(node);
    return blind;
  }

  // ── from the engine ──────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] Session& session(NodeIndex node) noexcept { return all_[node].session; }
  [[nodiscard]] const Session& session(NodeIndex node) const noexcept { return all_[node].session; }

  /// The node's connection for commands has become ready or has failed.
  void node_connected(NodeIndex node, bool is_ready, Time now) {
    all_[node].is_node_connected = is_ready;
    all_[node].disarm();
    if (is_ready) return tell_all_changed(node, now);
    tell([&](Watcher& each) { each.disconnected(node); });
  }
  /// The node has accepted these credentials: its listener uses them, too.
  void log_in(NodeIndex node, const Credentials& credentials, Time now) {
    if (session(node).redial_with(credentials, now)) disarm(node, now);
  }
  /// The listener was lost.
  void disconnected(NodeIndex node, Trouble trouble, Time now) {
    session(node).disconnected(std::move(trouble), now);
    disarm(node, now);
  }
  /// The listener has received a reply or a message.
  void received(NodeIndex node, const Reply& reply, Time now) {
    Session& session = all_[node].session;
    const auto& parts = reply.elements;
    if (session.ready() && parts.size() == 3 && parts[0].text == "message")
      return heard(node, parts[1].text, parts[2], now);
    const Session::State before = session.state();
    session.answered(reply, now);
    if (session.state() == before) return;
    if (session.state() == Session::State::down) postpone_redial(node, session.trouble(), now);
    if (ping_at_ < now) ping_at_ = now + ping_every_;
    disarm(node, now);
  }

  [[nodiscard]] Time timer() const noexcept {
    Time first = never;
    for (const Listener& each : all_) {
      if (is_needed(each.session)) first = std::min(first, each.session.timer());
      if (each.session.ready() && watched_ > 0) first = std::min(first, ping_at_);
    }
    return first;
  }
  /// Call only after reading every readable connection.
  void on_time(Time now) {
    for (NodeIndex node = 0; node < size(); ++node)
      if (is_needed(session(node)) && session(node).on_time(now)) disarm(node, now);
    if (watched_ == 0 || now < ping_at_) return;
    for (Listener& each : all_) each.ping(now);
    ping_at_ = now + ping_every_;
  }
  /// Something must be sent or received even if no caller waits for it.
  [[nodiscard]] bool needs_attention() const noexcept {
    return std::any_of(all_.begin(), all_.end(), [](const Listener& each) { return each.needs_attention(); });
  }
  /// A warning for the user; at most one in a client's life.
  std::optional<std::string> take_warning() noexcept { return std::exchange(warning_, std::nullopt); }

 private:
  static constexpr Span redial_delay_after_refusal = std::chrono::minutes{1};

  /// A listener that is down is not redialled while no key is watched.
  [[nodiscard]] bool is_needed(const Session& session) const noexcept {
    return session.state() != Session::State::down || watched_ > 0;
  }

  // ── telling the watchers ─────────────────────────────────────────────────────────────────────────────────

  void heard(NodeIndex node, std::string_view channel, const Reply& content, Time now) {
    const bool is_invalidation = channel == invalidation_channel;
    const bool names_keys = content.is(Reply::Kind::array);
    // An invalidation without a list of keys: all may have been changed.
    const std::size_t looks = names_keys ? content.elements.size() : is_invalidation ? watched_ : 1;
    if (!all_[node].limit.allows(std::max<std::size_t>(looks, 1), watched_, now)) return flooded(node, now);
    if (!is_invalidation) return tell([&](Watcher& each) { each.message(node, channel, content.text, now); });
    if (!names_keys) return tell_all_changed(node, now);
    for (const Reply& key : content.elements)
      tell([&](Watcher& each) { each.key_changed(node, key.text, now); });
  }
  template <class News>
  void tell(const News& news) const {
    for (Watcher* const watcher : watchers_) news(*watcher);
  }
  void tell_all_changed(NodeIndex node, Time now) const {
    tell([&](Watcher& each) { each.all_keys_changed(node, now); });
  }
  void disarm(NodeIndex node, Time now) {
    all_[node].disarm();
    tell_all_changed(node, now);
  }

  // ── trouble with a listener ──────────────────────────────────────────────────────────────────────────────

  /// A server that refuses a listener's handshake is likely to refuse the next one.
  void postpone_redial(NodeIndex node, const Trouble& trouble, Time now) {
    session(node).postpone_redial(later(now, redial_delay_after_refusal));
    warn_of_refusal(node, trouble);
  }
  /// Closes the listener of a node that sends too many messages.
  void flooded(NodeIndex node, Time now) {
    session(node).refuse({NodeStatus::protocol_error, "too many invalidation messages"}, now,
                         redial_delay_after_refusal);
    warn(node,
         " sends too many invalidation messages, so the client polls it every tenth of a ttl for a minute");
    disarm(node, now);
  }
  void warn_of_refusal(NodeIndex node, const Trouble& trouble) {
    warn(node, " sends no invalidation messages, so the client polls it every tenth of a ttl: " +
                   printable(trouble.message));
  }
  void warn(NodeIndex node, std::string_view what) {
    if (!is_connected(node) || std::exchange(has_warned_, true)) return;
    warning_ = std::string{session(node).name()}.append(what);
  }

  std::vector<Listener> all_;
  std::vector<Watcher*> watchers_;
  std::size_t watched_ = 0;  // keys
  std::optional<std::string> warning_;
  bool has_warned_ = false;
  Span ping_every_{};
  Time ping_at_{};
};

}  // namespace redlock::inline v1::core
