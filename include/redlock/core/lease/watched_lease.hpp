// Which nodes still have a lease's value, as they tell it without being asked for an extension.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/lease/lease_state.hpp"
#include "redlock/core/operation/operation.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// Some of the nodes, a bit for each; there are 31 at most.
using NodeSet = std::uint32_t;
[[nodiscard]] constexpr NodeSet set_of(NodeIndex node) noexcept { return NodeSet{1} << node; }

/// One lease that is watched. It reads the value's beginning, and remembers each node's last word. When so many nodes say
/// that our value is gone that no majority can have it, the lease is lost. A node that does not answer has said nothing.
///
/// It is an operation only so that answers find it: it is never started, and never done.
class WatchedLease final : public Operation {
 public:
  /// Who decides when which node is read.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    /// A command of ours that writes the key was sent to the node.
    virtual void written(WatchedLease&, NodeIndex, Outbox&) = 0;
    /// The server does not let us hear of changes.
    virtual void refused(NodeIndex, const Trouble&, Time now) = 0;
    /// The lease has just been lost.
    virtual void lost(WatchedLease&) = 0;
    /// Forgets the watch, which may be destroyed by that.
    virtual void stop(WatchedLease&) noexcept = 0;
  };

  WatchedLease(std::shared_ptr<LeaseState> lease, std::size_t nodes, Watcher& watcher)
      : watcher_{watcher}, lease_{std::move(lease)}, nodes_{nodes} {}

  /// The lease's own write has taken the server's push away: to be called behind each of them.
  static void written(const LeaseState& lease, NodeIndex node, Outbox& outbox) {
    if (WatchedLease* const watch = lease.watch) watch->watcher_.written(*watch, node, outbox);
  }
  /// The lease is over, or about to be released.
  static void stop(LeaseState& lease) noexcept {
    if (WatchedLease* const watch = std::exchange(lease.watch, nullptr)) watch->watcher_.stop(*watch);
  }

  enum : Step { tracking, caching, value };
  /// False: it cannot be sent now.
  bool send(NodeIndex node, Step step, std::string_view command, Outbox& outbox) {
    return !outbox.send(node, command, *this, {.step = step, .send_by = Time{}, .heeded = step == value});
  }
  [[nodiscard]] std::string read_command() const {
    return command({"GETRANGE", lease_->claim.key, "0", std::to_string(lease_->claim.owner.size())});
  }

  void answered(NodeIndex node, Step step, const Reply& reply, Time now, Outbox&) override {
    if (step != value) {
      if (reply.is(Reply::Kind::error)) watcher_.refused(node, trouble_of_error(reply.text), now);
      return;
    }
    if (lease_->watch != this) return;
    // A key of another type is not ours, so ours is gone.
    const bool is_string = reply.is(Reply::Kind::string);
    const bool is_other_type =
        reply.is(Reply::Kind::error) && trouble_of_error(reply.text).status == NodeStatus::wrong_type;
    if (is_string || is_other_type)
      note(node, is_string && reply.text == lease_->claim.owner, is_other_type || !reply.text.empty(), now);
  }

  void start(Time, Outbox&) override {}
  void disconnected(NodeIndex, const Trouble&, Time, Outbox&) override {}
  void timed_out(Time, Outbox&) override {}
  void abandon(Errc, Time, Outbox&) override {}

  [[nodiscard]] const std::shared_ptr<LeaseState>& lease() const noexcept { return lease_; }

  // The watcher's own book-keeping.
  NodeSet unread = 0;  // to be read when it is due
  Time due = never;

 private:
  void note(NodeIndex node, bool is_ours, bool is_there, Time now) {
    gone_ = is_ours ? gone_ & ~set_of(node) : gone_ | set_of(node);
    taken_ = is_there && !is_ours ? taken_ | set_of(node) : taken_ & ~set_of(node);
    if (static_cast<std::size_t>(std::popcount(gone_)) <= tolerated(nodes_)) return;
    if (lease_->lose(taken_ != 0 ? Loss::taken : Loss::deleted, now)) watcher_.lost(*this);
  }

  Watcher& watcher_;
  const std::shared_ptr<LeaseState> lease_;
  const std::size_t nodes_;
  NodeSet gone_ = 0;   // said that our value is not there
  NodeSet taken_ = 0;  // of these, with something else in its place
};

}  // namespace redlock::inline v1::core
