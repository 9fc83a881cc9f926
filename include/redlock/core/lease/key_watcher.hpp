// When which copies of which leases are looked at.
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
#include "redlock/core/lease/watched_lease.hpp"
#include "redlock/core/node/session.hpp"

namespace redlock::inline v1::core {

/// Hears at once when somebody changes a key of a lease that is watched (CLIENT TRACKING).
///
/// Each node has a second connection, the *listener*, which listens; made when a lease is watched for the first time. The
/// server remembers who has read which key (a read behind CLIENT CACHING YES *arms* it), and tells the listener of the
/// next change, once. A change is no loss: the key is read again, which arms it anew. Our own writes are not told, and
/// disarm as well: so an extension is followed by a read in the same batch. After either connection was
/// lost everything on that node counts as disarmed, and is read again.
///
/// A node without a listener, or whose server or ACL knows no tracking, is *blind*: there leases are read every
/// tenth of their ttl. A listener that is gone gives no error: it is sent a PING regularly.
class KeyWatcher final : WatchedLease::Watcher {
 public:
  /// `listeners`: one for each node.
  KeyWatcher(std::vector<Session::Settings> listeners, std::uint64_t seed) : random_{seed} {
    for (Session::Settings& settings : listeners) {
      ping_every_ = settings.silence;
      posts_.push_back({Session{std::move(settings)}});
    }
  }
  KeyWatcher(const KeyWatcher&) = delete;
  KeyWatcher& operator=(const KeyWatcher&) = delete;
  ~KeyWatcher() override {
    for (const Ref<WatchedLease>& watch : watches_) watch->lease()->watch = nullptr;
  }

  /// From now on it is watched, until it is over or released. One that is held for a moment only costs nothing.
  void add(const std::shared_ptr<LeaseState>& lease, Time now) {
    if (lease->watch || !lease->in_force(now)) return;
    WatchedLease& watch = **watches_.insert(Ref<WatchedLease>{new WatchedLease{lease, posts_.size(), *this}});
    lease->watch = &watch;
    watch.unread = ~NodeSet{0};
    schedule(watch, now + moment);
  }

  // ── from the engine ──────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] Session& listener(NodeIndex node) noexcept { return posts_[node].listener; }
  [[nodiscard]] const Session& listener(NodeIndex node) const noexcept { return posts_[node].listener; }

  /// The node's connection for commands has become ready, or of no use.
  void connected(NodeIndex node, bool is_ready, Time now) {
    posts_[node].is_connected = is_ready;
    posts_[node].tracking = Tracking::off;
    if (is_ready) look_at_all(node, now);
  }
  void disconnected_listener(NodeIndex node, Trouble trouble, Time now) {
    listener(node).disconnected(std::move(trouble), now);
    look_again(node, now);
  }
  /// A reply to the listener, or a push.
  void told(NodeIndex node, const Reply& reply, Time now) {
    Session& session = listener(node);
    const auto& parts = reply.elements;
    if (session.ready() && parts.size() == 3 && parts[0].text == "message")
      return changed(node, parts[2], now);
    const Session::State before = session.state();
    session.answered(reply, now);
    if (session.state() == before) return;
    if (session.state() == Session::State::down) rest(node, session.trouble(), now);
    if (ping_at_ < now) ping_at_ = now + ping_every_;
    look_again(node, now);
  }

  [[nodiscard]] Time timer() const noexcept {
    Time first = due_.empty() ? never : due_.begin()->first;
    for (const Post& post : posts_) {
      if (is_of_use(post.listener)) first = std::min(first, post.listener.timer());
      if (post.listener.ready() && !watches_.empty()) first = std::min(first, ping_at_);
    }
    return first;
  }
  /// Call only after every readable connection was read.
  void on_time(Time now, Outbox& outbox) {
    for (NodeIndex node = 0; node < posts_.size(); ++node) {
      Session& session = listener(node);
      if (!is_of_use(session) || now < session.timer()) continue;
      session.on_time(now);
      look_again(node, now);
    }
    if (!watches_.empty() && now >= ping_at_) ping(now);
    for (std::size_t looks = 0; looks < batch && !due_.empty() && due_.begin()->first <= now; ++looks)
      look(*due_.begin()->second, now, outbox);
  }
  /// Something is to be sent or to arrive although nobody waits for it.
  [[nodiscard]] bool needs_attention() const noexcept {
    return std::any_of(posts_.begin(), posts_.end(), [](const Post& post) {
      const Session& session = post.listener;
      return session.has_errand() || session.is_dialling() || !session.unsent().empty();
    });
  }

  /// Leases that have been lost since the last call: what is left of them is to be released.
  std::vector<std::shared_ptr<LeaseState>>& lost() noexcept { return lost_; }
  /// What the user may want to know; once in a client's life.
  std::optional<std::string> take_warning() noexcept { return std::exchange(warning_, std::nullopt); }
  [[nodiscard]] std::size_t size() const noexcept { return watches_.size(); }

 private:
  enum class Tracking : std::uint8_t { off, on, refused };
  struct Post {
    Session listener;
    bool is_connected = false;  // for commands
    Tracking tracking = Tracking::off;
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
  static constexpr Span moment = std::chrono::milliseconds{5};
  static constexpr Span rest_after_refusal = std::chrono::minutes{1};
  static constexpr std::size_t batch = 512;

  // ── for the watches ──────────────────────────────────────────────────────────────────────────────────────

  void written(WatchedLease& watch, NodeIndex node, Outbox& outbox) override {
    if (!read(watch, node, outbox)) look_soon(watch, node, Time{});
  }
  /// If the node is connected; and has the server push the next change. False: there is no room for it, to be tried again.
  bool read(WatchedLease& watch, NodeIndex node, Outbox& outbox) {
    Post& post = posts_[node];
    if (!post.is_connected) return true;  // read when it is
    if (!is_blind(post)) {
      if (post.tracking == Tracking::off) {
        const std::string id = std::to_string(post.listener.client_id());
        if (!watch.send(node, WatchedLease::tracking,
                        command({"CLIENT", "TRACKING", "ON", "REDIRECT", id, "OPTIN", "NOLOOP"}), outbox))
          return false;
        post.tracking = Tracking::on;
      }
      static const std::string caching = command({"CLIENT", "CACHING", "YES"});
      if (!watch.send(node, WatchedLease::caching, caching, outbox)) return false;
    }
    return watch.send(node, WatchedLease::value, watch.read_command(), outbox);
  }
  void refused(NodeIndex node, const Trouble& trouble, Time now) override {
    if (posts_[node].tracking != Tracking::on) return;  // an older answer
    look_again(node, now);
    posts_[node].tracking = Tracking::refused;
    // A listener that has gone meanwhile is not there to be redirected to: that is no refusal.
    if (!trouble.message.starts_with("ERR The client ID")) warn(node, trouble);
  }
  void lost(WatchedLease& watch) override { lost_.push_back(watch.lease()); }
  void stop(WatchedLease& watch) noexcept override {
    strike(watch);
    const auto [first, last] = watches_.equal_range(std::string_view{watch.lease()->claim.key});
    watches_.erase(
        std::find_if(first, last, [&](const Ref<WatchedLease>& each) { return each.get() == &watch; }));
  }

  // ── what is known of the nodes ───────────────────────────────────────────────────────────────────────────

  [[nodiscard]] static bool is_blind(const Post& post) noexcept {
    return !post.listener.ready() || post.tracking == Tracking::refused;
  }
  [[nodiscard]] NodeSet blind_nodes() const noexcept {
    NodeSet blind = 0;
    for (NodeIndex node = 0; node < posts_.size(); ++node)
      if (posts_[node].is_connected && is_blind(posts_[node])) blind |= set_of(node);
    return blind;
  }
  /// One that is down is not redialled as long as nothing is watched.
  [[nodiscard]] bool is_of_use(const Session& session) const noexcept {
    return session.state() != Session::State::down || !watches_.empty();
  }
  /// A server that greets and refuses will do so again.
  void rest(NodeIndex node, const Trouble& trouble, Time now) {
    listener(node).postpone_redial(later(now, rest_after_refusal));
    warn(node, trouble);
  }
  void warn(NodeIndex node, const Trouble& trouble) {
    if (!posts_[node].is_connected || std::exchange(has_warned_, true)) return;
    warning_ =
        listener(node).name() +
        " sends no invalidation messages, so the client polls it every tenth of a ttl: " + trouble.message;
  }
  void ping(Time now) {
    static const std::string ping = command({"PING"});
    for (Post& post : posts_)
      if (post.listener.ready() && post.listener.pending() == 0) post.listener.send(ping, {}, never, now);
    ping_at_ = now + ping_every_;
  }

  // ── looks ────────────────────────────────────────────────────────────────────────────────────────────────

  /// Nothing is armed on that node any more.
  void look_again(NodeIndex node, Time now) {
    posts_[node].tracking = Tracking::off;
    look_at_all(node, now);
  }
  void look_at_all(NodeIndex node, Time now) {
    for (const Ref<WatchedLease>& watch : watches_) look_soon(*watch, node, now);
  }
  void look_soon(WatchedLease& watch, NodeIndex node, Time now) {
    watch.unread |= set_of(node);
    // The first look is at all nodes, when its moment has come.
    if (watch.unread != ~NodeSet{0}) schedule(watch, now);
  }
  /// Somebody has changed these keys; all of them where they are not named.
  void changed(NodeIndex node, const Reply& keys, Time now) {
    if (!keys.is(Reply::Kind::array)) return look_at_all(node, now);
    for (const Reply& key : keys.elements) {
      const auto [first, last] = watches_.equal_range(std::string_view{key.text});
      for (auto watch = first; watch != last; ++watch) look_soon(**watch, node, now);
    }
  }
  void look(WatchedLease& watch, Time now, Outbox& outbox) {
    if (!watch.lease()->in_force(now)) return WatchedLease::stop(*watch.lease());
    strike(watch);
    for (Post& post : posts_) post.listener.wake(now);
    const NodeSet wanted = std::exchange(watch.unread, 0) | blind_nodes();
    for (NodeIndex node = 0; node < posts_.size(); ++node)
      if ((wanted & set_of(node)) != 0 && !read(watch, node, outbox)) watch.unread |= set_of(node);
    if (watch.unread != 0 || blind_nodes() != 0) schedule(watch, now + pause_of(*watch.lease()));
  }
  [[nodiscard]] Span pause_of(const LeaseState& lease) noexcept {
    const Span pause =
        std::clamp<Span>(lease.claim.ttl / 10, std::chrono::milliseconds{5}, std::chrono::seconds{10});
    const auto chance =
        static_cast<Span::rep>(next_random(random_) >> 34U);  // in nanoseconds, a second at most
    return pause - Span{chance} % (pause / 4);
  }
  void schedule(WatchedLease& watch, Time when) {
    if (when >= watch.due) return;
    strike(watch);
    due_.emplace(when, &watch);
    watch.due = when;
  }
  void strike(WatchedLease& watch) noexcept {
    if (watch.due != never) due_.erase({std::exchange(watch.due, never), &watch});
  }

  std::uint64_t random_;
  std::vector<Post> posts_;  // one for each node
  std::multiset<Ref<WatchedLease>, ByKey> watches_;
  std::set<std::pair<Time, WatchedLease*>> due_;
  std::vector<std::shared_ptr<LeaseState>> lost_;
  std::optional<std::string> warning_;
  bool has_warned_ = false;
  Span ping_every_{};
  Time ping_at_{};
};

}  // namespace redlock::inline v1::core
