// Watches the keys of leases for changes by others.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "redlock/core/base/backoff.hpp"
#include "redlock/core/base/ref.hpp"
#include "redlock/core/lease/due_order.hpp"
#include "redlock/core/lease/renewals.hpp"
#include "redlock/core/lease/watched_lease.hpp"
#include "redlock/core/watch/listeners.hpp"
#include "redlock/core/watch/watcher.hpp"

namespace redlock::inline v1::core {

/// A renewed lease is watched only if it is held for longer, unless its holder asks to be told of its loss.
inline constexpr Span a_moment = std::chrono::seconds{1};

/// Notices at once when another client changes the key of a watched lease.
///
/// A change is not a loss yet: the key is read again, which also arms it again (`Listeners`). Our own writes disarm it, so
/// every extension is followed by a read in the same batch. When all keys of a node are disarmed, all leases are read
/// there again. On blind nodes, leases are read every tenth of their ttl.
class KeyWatcher final : Watcher, WatchedLease::Keeper {
 public:
  KeyWatcher(Listeners& listeners, std::uint64_t seed) : listeners_{listeners}, random_{seed} {
    listeners.add(*this);
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
      lease->watch = watches_.insert(Ref<WatchedLease>{new WatchedLease{lease, listeners_, *this}})->get();
      lease->watch->unread = ~NodeSet{0};
      listeners_.begin_watch();
    }
    if (lease->watch->unread != 0) schedule(*lease->watch, first_read);
  }

  /// This client has touched the copies of all holders of this lock on the node, which disarmed them.
  void touched(NodeIndex node, std::string_view lock_key) {
    for (const Ref<WatchedLease>& watch : watches_)
      if (watch->lease()->claim.key == lock_key) read_soon(*watch, node, Time{});
  }

  // ── from the engine ──────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] Time timer() const noexcept { return due_.empty() ? never : due_.begin()->first; }
  /// Call only after reading every readable connection.
  void on_time(Time now, Outbox& outbox) {
    for (std::size_t count = 0; count < batch && !due_.empty() && due_.begin()->first <= now; ++count)
      read_unread(*due_.begin()->second, now, outbox);
  }

  [[nodiscard]] std::size_t size() const noexcept { return watches_.size(); }

 private:
  struct ByKey {
    using is_transparent = void;
    static std::string_view key(const Ref<WatchedLease>& watch) noexcept {
      return watch->lease()->claim.copy_key();
    }
    static std::string_view key(std::string_view key) noexcept { return key; }
    template <class One, class Other>
    bool operator()(const One& one, const Other& other) const noexcept {
      return key(one) < key(other);
    }
  };
  static constexpr std::size_t batch = 512;

  // ── from the listeners ───────────────────────────────────────────────────────────────────────────────────

  void key_changed(NodeIndex node, std::string_view key, Time now) override {
    const auto [first, last] = watches_.equal_range(key);
    for (auto watch = first; watch != last; ++watch) read_soon(**watch, node, now);
  }
  void all_keys_changed(NodeIndex node, Time now) override {
    for (const Ref<WatchedLease>& watch : watches_) read_soon(*watch, node, now);
  }

  // ── from the watched leases ──────────────────────────────────────────────────────────────────────────────

  void read_soon(WatchedLease& watch, NodeIndex node, Time when) override {
    watch.unread |= set_of(node);
    // If all nodes are unread, the first read is already scheduled.
    if (watch.unread != ~NodeSet{0}) schedule(watch, when);
  }
  void lost(WatchedLease& watch) override {
    Renewals::stop(watch.lease());
    WatchedLease::stop(*watch.lease());
  }
  void stop(WatchedLease& watch) noexcept override {
    unschedule(watch);
    const auto [first, last] = watches_.equal_range(ByKey::key(watch.lease()->claim.copy_key()));
    watches_.erase(
        std::find_if(first, last, [&](const Ref<WatchedLease>& each) { return each.get() == &watch; }));
    listeners_.end_watch();
  }

  // ── reads ────────────────────────────────────────────────────────────────────────────────────────────────

  /// Reads the key on its unread nodes and on all blind ones.
  void read_unread(WatchedLease& watch, Time now, Outbox& outbox) {
    if (!watch.lease()->in_force(now)) return WatchedLease::stop(*watch.lease());
    unschedule(watch);
    listeners_.wake(now);
    const NodeSet wanted = std::exchange(watch.unread, 0) | listeners_.blind_nodes();
    for (NodeIndex node = 0; node < listeners_.size(); ++node)
      if ((wanted & set_of(node)) != 0 && !watch.read(node, outbox)) watch.unread |= set_of(node);
    if (watch.unread != 0 || listeners_.blind_nodes() != 0) schedule(watch, now + pause_of(*watch.lease()));
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

  Listeners& listeners_;
  std::uint64_t random_;
  std::multiset<Ref<WatchedLease>, ByKey> watches_;
  std::set<std::pair<Time, WatchedLease*>, DueOrder> due_;
};

}  // namespace redlock::inline v1::core
