// Which nodes still have a lease's value, as known from reads of its key.
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

/// One lease whose key is watched. It reads the beginning of the value and remembers the last reply of each node. When
/// so many nodes have lost our value that no majority can have it, the lease is lost. A missing reply means nothing.
///
/// It is an operation only so that replies reach it: it is never started and never done.
class WatchedLease final : public Operation {
 public:
  /// Decides when to read which node. Implemented by `KeyWatcher`.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    /// This client has sent a command that writes the key to the node.
    virtual void written(WatchedLease&, NodeIndex, Outbox&) = 0;
    /// The server refused to send invalidation messages.
    virtual void tracking_refused(NodeIndex, const Trouble&, Time now) = 0;
    /// The lease has just been lost.
    virtual void lost(WatchedLease&) = 0;
    /// Stops watching the lease. May destroy the `WatchedLease`.
    virtual void stop(WatchedLease&) noexcept = 0;
  };

  WatchedLease(std::shared_ptr<LeaseState> lease, std::size_t nodes, Watcher& watcher)
      : watcher_{watcher}, lease_{std::move(lease)}, nodes_{nodes} {}

  /// To be called after every command that writes the lease's key, because the server then stops tracking the key for
  /// this client.
  static void written(const LeaseState& lease, NodeIndex node, Outbox& outbox) {
    if (WatchedLease* const watch = lease.watch) watch->watcher_.written(*watch, node, outbox);
  }
  /// Stops watching the lease, which is over or about to be released.
  static void stop(LeaseState& lease) noexcept {
    if (WatchedLease* const watch = std::exchange(lease.watch, nullptr)) watch->watcher_.stop(*watch);
  }

  enum : Step { tracking, caching, value };
  /// Returns false if the command cannot be sent now.
  bool send(NodeIndex node, Step step, std::string_view command, Outbox& outbox) {
    return !outbox.send(node, command, *this,
                        {.step = step, .send_by = Time{}, .always_read = step == value});
  }
  [[nodiscard]] std::string read_command() const {
    return command({"GETRANGE", lease_->claim.key, "0", std::to_string(lease_->claim.owner.size())});
  }

  void answered(NodeIndex node, Step step, const Reply& reply, Time now, Outbox&) override {
    if (step != value) {
      if (reply.is(Reply::Kind::error)) watcher_.tracking_refused(node, trouble_of_error(reply.text), now);
      return;
    }
    if (lease_->watch != this) return;
    // A key of another type has replaced ours.
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

  // For the watcher's bookkeeping.
  NodeSet unread = 0;  // the nodes to read when the watch is due
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
  NodeSet gone_ = 0;   // nodes that do not have our value
  NodeSet taken_ = 0;  // those of them that have another value instead
};

}  // namespace redlock::inline v1::core
