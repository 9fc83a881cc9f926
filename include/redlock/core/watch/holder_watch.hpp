// Watches who has a lock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/core/base/backoff.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/operation/holding.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/operation/tally.hpp"
#include "redlock/core/watch/listeners.hpp"
#include "redlock/core/wire/keys.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "redlock/core/wire/shown.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// How long a watch waits before it reads nodes that have reported a change.
struct WatchTimes {
  Span settling = std::chrono::milliseconds{7};        // after the first report, before it reads a majority
  Span before_others = std::chrono::milliseconds{25};  // after that, before it reads the others
};

/// Reads a lock's key on every node, which also arms it there (`Listeners`), and again when it was changed or when its ttl
/// ends: servers report the end of a ttl late. Reports who has the lock whenever a majority shows somebody else, or another
/// token. So it may skip a holder, but it ends at the last one. A holder who has left is not reported again within a quarter
/// of a second: where a release overtakes a late grant, the nodes show it once more.
///
/// After the first report of a change it lets the nodes settle for 7 ms, as the next holder mostly gets the lock right after
/// the last one has left: one read of each node then shows both, and the reads of many watches do not delay the next holder.
/// It reads a majority first, and the others 25 ms later, or at once if they are needed to decide.
///
/// The second round of an acquisition may change the counter on a node and nothing else. So unless all nodes show the same
/// holder with the same counter, it reads those that show the holder once more, and arms their counters as well.
///
/// What a node has shown counts until another client changes its key or a connection is lost. After a command of this client
/// that writes the key, it counts for an owner and not against one, until the node was read again: so a client that tries again
/// and again hears of the holder from distant nodes as well. While others change the key before each read of such a node is
/// answered, a new holder may be reported late. Each node is read at least every five
/// seconds, because a lost connection for commands disarms its keys and may go unnoticed; one that reports no changes every
/// quarter of a second. A node is asked again only when it has answered, and for the end of a ttl after 10 ms at the
/// earliest.
///
/// It is an operation only so that replies reach it: it is never started and never done.
class HolderWatch final : public Operation {
 public:
  /// Called under the client's mutex.
  using Report = std::function<void(const Holding&)>;

  HolderWatch(std::string key, std::size_t nodes, Report report, const WatchTimes& times = {})
      : key_{std::move(key)},
        counter_key_{counter_key(key_)},
        report_{std::move(report)},
        times_{times},
        tally_{nodes},
        nodes_(nodes) {}

  // ── from the watcher ─────────────────────────────────────────────────────────────────────────────────────

  [[nodiscard]] bool reads(std::string_view key) const noexcept { return key == key_ || key == counter_key_; }
  /// What the node has shown does not count any more.
  void changed(NodeIndex node) { changed(node, Time{}); }
  /// The node has reported that the key was changed. A read that is due already shows that change as well.
  void reported(NodeIndex node, Time now) {
    const Node& read = nodes_[node];
    if (!lets_settle()) settles_at_ = later(now, times_.settling);
    const Time due = node < quorum(nodes_.size()) ? settles_at_ : later(settles_at_, times_.before_others);
    changed(node, read.has_changed && !read.is_asked ? std::min(read.read_at, due) : due);
  }
  /// Nodes have reported changes and are about to be read.
  [[nodiscard]] bool lets_settle() const noexcept { return settles_at_ != never; }
  /// This client has written the key, which must be armed again.
  void written(NodeIndex node) noexcept {
    nodes_[node].is_written = nodes_[node].is_stale = true;
    nodes_[node].read_at = Time{};
  }
  /// The connection was lost, so no replies come.
  void disconnected(NodeIndex node) {
    nodes_[node].is_asked = false;
    changed(node);
    compare_at_ = Time{};
  }
  /// Reads what is due.
  void advance(Listeners& listeners, std::uint64_t& random, Time now, Outbox& outbox) {
    listeners_ = &listeners;
    if (now >= compare_at_) compare_counters();
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (is_due(listeners, node, now)) nodes_[node].read_at = now + read(node, random, outbox);
    if (now >= settles_at_) settles_at_ = never;
  }
  [[nodiscard]] Time timer(const Listeners& listeners) const noexcept {
    Time first = std::min(compare_at_, settles_at_);
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (can_read(listeners, node)) first = std::min(first, nodes_[node].read_at);
    return first;
  }

  // ── from the engine ──────────────────────────────────────────────────────────────────────────────────────

  void answered(NodeIndex node, Step step, const Reply& reply, Time now, Outbox& outbox) override {
    Node& read = nodes_[node];
    switch (step) {
      case tracking:
      case caching:
        if (reply.is(Reply::Kind::error))
          listeners_->tracking_refused(node, trouble_of_error(reply.text), now);
        return;
      case owner:
        read.owner = reply;
        return;
      case counter:
        read.counter = reply;
        return;
      case life:
        read.life = reply;
        return;
      default:
        read.is_asked = false;
        // A message may overtake the reply of the read that armed the key. Then the reply at most adds to what was reported.
        if (read.has_changed && !(last_ && last_->owner == read.owner.text)) return;
        note(node, reply, now, outbox);
        report(now);
        // Mostly the other nodes are about to answer, and then all agree.
        if (!is_any_to_answer()) return compare_counters();
        compare_at_ = std::min(compare_at_, later(now, times_.before_others + shortest_pause));
    }
  }

  void start(Time, Outbox&) override {}
  void disconnected(NodeIndex, const Trouble&, Time, Outbox&) override {}
  void timed_out(Time, Outbox&) override {}
  void abandon(Errc, Time, Outbox&) override {}

 private:
  enum : Step { tracking, caching, owner, counter, life, owner_again };
  struct Node {
    bool is_asked = false;    // a read is unanswered
    bool has_changed = true;  // since it was asked
    bool is_written = false;  // by this client, since it was asked
    bool is_stale = false;    // by this client, since the read that shows what counts
    bool arms_counter = false;
    Time read_at{};
    Reply owner;
    Reply counter;
    Reply life;
  };
  static constexpr Span look_pause = std::chrono::seconds{5};
  static constexpr Span blind_pause = std::chrono::milliseconds{250};
  static constexpr Span shortest_pause = std::chrono::milliseconds{10};

  [[nodiscard]] bool can_read(const Listeners& listeners, NodeIndex node) const noexcept {
    return !nodes_[node].is_asked && listeners.is_connected(node);
  }
  [[nodiscard]] bool is_due(const Listeners& listeners, NodeIndex node, Time now) const noexcept {
    return can_read(listeners, node) && nodes_[node].read_at <= now;
  }

  /// A node is being read, or about to be.
  [[nodiscard]] bool is_any_to_answer() const noexcept {
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].is_asked || (nodes_[node].has_changed && listeners_->is_connected(node))) return true;
    return false;
  }
  void changed(NodeIndex node, Time read_at) {
    nodes_[node].has_changed = true;
    nodes_[node].read_at = read_at;
    tally_.mark(node, Tally::Mark::pending);
  }
  /// Returns after what time to read the node again.
  Span read(NodeIndex node, std::uint64_t& random, Outbox& outbox) {
    const std::string value = read_owner_command(key_);
    outbox.look_again(node);
    const auto arm = [&] { return listeners_->arm(node, *this, tracking, caching, outbox); };
    if (!arm() || !ask(node, owner, value, outbox) || (nodes_[node].arms_counter && !arm()) ||
        !ask(node, counter, read_counter_command(key_), outbox) ||
        !ask(node, life, command({"PTTL", key_}), outbox) || !ask(node, owner_again, value, outbox))
      return blind_pause;
    nodes_[node].is_asked = true;
    nodes_[node].has_changed = nodes_[node].is_written = false;
    const Span pause = listeners_->is_blind(node) ? blind_pause : look_pause;
    return pause - Span{static_cast<Span::rep>(next_random(random) >> 1U)} % (pause / 4);
  }
  bool ask(NodeIndex node, Step step, const std::string& question, Outbox& outbox) {
    return !outbox.send(node, question, *this, {.step = step, .send_by = Time{}, .always_read = true});
  }

  /// The node has told all. As no two attempts have the same owner value, what it showed between two equal ones belongs to
  /// this owner.
  void note(NodeIndex node, const Reply& again, Time now, Outbox& outbox) {
    Node& read = nodes_[node];
    read.is_stale = read.is_written;
    const bool is_string = read.owner.is(Reply::Kind::string) && again.is(Reply::Kind::string);
    const bool is_free = read.owner.text.empty();
    const bool is_there = read.life.integer != -2;  // an empty value is no owner
    const Trouble* const caveat = outbox.caveat(node);
    if (caveat || !is_string || read.owner.text != again.text || !read.life.is(Reply::Kind::integer) ||
        is_free == is_there) {
      read.read_at = std::min(read.read_at, later(now, blind_pause));
      return tally_.mark(node, Tally::Mark::unknown);
    }
    tally_[node].owner = std::move(read.owner.text);
    tally_[node].counter = shown_counter(read.counter);
    tally_.mark(node, is_free ? Tally::Mark::yes : Tally::Mark::no);
    if (read.life.integer < 0) return;
    const Span left = span_of(std::chrono::milliseconds{read.life.integer});
    const Time ends = later(later(now, std::max(left, shortest_pause)), std::chrono::milliseconds{1});
    read.read_at = std::min(read.read_at, ends);
  }
  void report(Time now) {
    std::optional<Holding> seen = holding_in(tally_);
    if (seen && !seen->owner) seen = holding_in(without_stale());
    if (!seen || is_token_open(*seen)) read_rest_now(now);
    if (!seen) return;
    const bool is_new = !last_ || seen->owner != last_->owner;
    const bool has_token = last_ && seen->token != 0 && seen->token != last_->token;
    if (!is_new && !has_token) return;
    if (is_new && seen->owner && seen->owner == left_ && now < back_at_) return read_all_at(back_at_);
    if (is_new && last_ && last_->owner && is_of_one_holder(*last_->owner)) {
      left_ = last_->owner;
      back_at_ = later(now, blind_pause);
    }
    last_ = std::move(*seen);
    if (is_new)
      for (Node& node : nodes_) node.arms_counter = false;
    if (last_->owner) read_others(*last_->owner);
    report_(*last_);
  }
  /// A command of this client may have given a node the next owner, or a copy back.
  [[nodiscard]] Tally without_stale() const {
    Tally current = tally_;
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].is_stale) current.mark(node, Tally::Mark::pending);
    return current;
  }
  void compare_counters() {
    compare_at_ = never;
    if (!last_ || !last_->owner) return;
    const auto shows_holder = [&](NodeIndex node) {
      return tally_.is(node, Tally::Mark::no) && tally_[node].owner == last_->owner;
    };
    bool all_agree = true;
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      all_agree = all_agree && shows_holder(node) && tally_[node].counter == tally_[0].counter;
    for (NodeIndex node = 0; node < nodes_.size() && !all_agree; ++node)
      if (shows_holder(node) && !std::exchange(nodes_[node].arms_counter, true))
        nodes_[node].read_at = Time{};
  }
  void read_all_at(Time when) {
    for (Node& node : nodes_) node.read_at = std::min(node.read_at, when);
  }
  /// Nodes show counters beside this owner, and none of these has a majority.
  [[nodiscard]] bool is_token_open(const Holding& seen) const {
    bool is_any_shown = false;
    for (NodeIndex node = 0; node < nodes_.size(); ++node)
      is_any_shown |=
          tally_.is(node, Tally::Mark::no) && tally_[node].owner == seen.owner && tally_[node].counter;
    return seen.owner && seen.token == 0 && is_any_shown;
  }
  /// The nodes that have answered leave the holder or its token open, so those decide that are to be read later.
  void read_rest_now(Time now) {
    if (lets_settle() || std::ranges::any_of(nodes_, &Node::is_asked)) return;
    for (Node& node : nodes_)
      if (node.has_changed) node.read_at = std::min(node.read_at, now);
  }
  /// Nodes that show something else may have shown it before this owner got the lock. Together with nodes that this owner
  /// has left since, they would say that it has left a majority.
  void read_others(const std::string& reported) {
    for (NodeIndex node = 0; node < nodes_.size(); ++node) {
      const bool shows_another = tally_.is(node, Tally::Mark::no) && tally_[node].owner != reported;
      if (tally_.is(node, Tally::Mark::yes) || shows_another) changed(node);
    }
  }

  const std::string key_;
  const std::string counter_key_;
  const Report report_;
  const WatchTimes times_;
  Listeners* listeners_ = nullptr;  // set before the first read
  Tally tally_;
  std::vector<Node> nodes_;
  std::optional<Holding> last_;      // reported
  std::optional<std::string> left_;  // the owner that was reported before
  Time back_at_{};                   // it is reported again if it has the lock then
  Time settles_at_ = never;          // when nodes are read that have reported a change
  Time compare_at_ = never;          // whether all nodes show the same counter
};

}  // namespace redlock::inline v1::core
