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
#include "redlock/core/watch/listeners.hpp"
#include "redlock/core/wire/requests.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/core/wire/trouble.hpp"

namespace redlock::inline v1::core {

/// One lease whose copies are watched. It reads the beginning of the value and remembers the last reply of each node. When
/// so many nodes have lost our value that no majority can have it, the lease is lost. A missing reply means nothing. See
/// `Extension` for what becomes of the remaining copies.
///
/// It is an operation only so that replies reach it: it is never started and never done.
class WatchedLease final : public Operation {
 public:
  /// Decides when to read which node. Implemented by `KeyWatcher`.
  class Keeper {
   public:
    virtual ~Keeper() = default;
    /// The key is to be read on this node at `when`.
    virtual void read_soon(WatchedLease&, NodeIndex, Time when) = 0;
    /// The lease has just been lost. May destroy the `WatchedLease`.
    virtual void lost(WatchedLease&) = 0;
    /// Stops watching the lease. May destroy the `WatchedLease`.
    virtual void stop(WatchedLease&) noexcept = 0;
  };

  WatchedLease(std::shared_ptr<LeaseState> lease, Listeners& listeners, Keeper& keeper)
      : lease_{std::move(lease)}, listeners_{listeners}, keeper_{keeper} {}

  /// To be called after every command that writes the lease's key, because the server then stops tracking the key for
  /// this client.
  static void written(const LeaseState& lease, NodeIndex node, Outbox& outbox) {
    WatchedLease* const watch = lease.watch;
    if (watch && !watch->read(node, outbox)) watch->keeper_.read_soon(*watch, node, Time{});
  }
  /// Stops watching the lease, which is over or about to be released.
  static void stop(LeaseState& lease) noexcept {
    if (WatchedLease* const watch = std::exchange(lease.watch, nullptr)) watch->keeper_.stop(*watch);
  }

  /// Reads the key on one node and arms it there. Returns false if the commands cannot be sent now; then the caller tries
  /// again later. Does nothing for a node that is not connected: it is read when it connects.
  bool read(NodeIndex node, Outbox& outbox) {
    if (!listeners_.is_connected(node)) return true;
    if (!listeners_.arm(node, *this, tracking, caching, outbox)) return false;
    const std::string& owner = lease_->claim.owner;
    return ask(node, value, lease_->claim.copy_key(), owner.size(), outbox) &&
           (lease_->request_key.empty() || ask(node, request, lease_->request_key, longest_why, outbox));
  }

  void answered(NodeIndex node, Step step, const Reply& reply, Time now, Outbox&) override {
    if (step == tracking || step == caching) {
      if (reply.is(Reply::Kind::error)) listeners_.tracking_refused(node, trouble_of_error(reply.text), now);
      return;
    }
    if (lease_->watch != this) return;
    if (step == request) return note_request(reply);
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
  enum : Step { tracking, caching, value, request };

  /// Reads the beginning of a key, up to the byte `last`.
  bool ask(NodeIndex node, Step step, const std::string& key, std::size_t last, Outbox& outbox) {
    return !outbox.send(node, command({"GETRANGE", key, "0", std::to_string(last)}), *this,
                        {.step = step, .send_by = Time{}, .always_read = true});
  }
  /// One node suffices. A request names the holder that it is for, so it is about this lease.
  void note_request(const Reply& reply) {
    if (!reply.is(Reply::Kind::string) || reply.text.empty() || lease_->request_key.empty()) return;
    lease_->request_key.clear();
    lease_->asked(std::string_view{reply.text}.substr(0, longest_why));
  }
  void note(NodeIndex node, bool is_ours, bool is_there, Time now) {
    gone_ = is_ours ? gone_ & ~set_of(node) : gone_ | set_of(node);
    taken_ = is_there && !is_ours ? taken_ | set_of(node) : taken_ & ~set_of(node);
    if (static_cast<std::size_t>(std::popcount(gone_)) <= tolerated(listeners_.size())) return;
    if (lease_->lose(taken_ != 0 ? Loss::taken : Loss::deleted, now)) keeper_.lost(*this);
  }

  const std::shared_ptr<LeaseState> lease_;
  Listeners& listeners_;
  Keeper& keeper_;
  NodeSet gone_ = 0;   // nodes that do not have our value
  NodeSet taken_ = 0;  // those of them that have another value instead
};

}  // namespace redlock::inline v1::core
