// Where operations send commands and submit other operations.
#pragma once

#include <cstdint>
#include <string_view>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/ref.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1 {
class Observer;
}

namespace redlock::inline v1::core {

class Lines;
class Operation;

/// Identifies which of an operation's commands a reply answers. Every operation defines its own steps.
using Step = std::uint8_t;

/// How to send a command.
struct SendOptions {
  Step step = 0;
  Time send_by = never;      ///< Dropped if it cannot be sent by this time: a late SET only does harm.
  bool is_release = false;   ///< Kept for a node without a connection until the node is connected again.
  bool grants = false;       ///< Sent only to nodes that may grant, according to the restart guard.
  bool always_read = false;  ///< Its reply is read even if no operation waits for it; a release implies this.
  bool lacks_marker = false;  ///< The node's `RequiredMarker` is appended when the command is written.
};

/// What operations use of the engine. Implemented by the engine, and by tests that record what is sent.
class Outbox {
 public:
  virtual ~Outbox() = default;
  /// Queues one command after all earlier ones to this node. If it returns null, `sender` will receive the reply or
  /// `disconnected`. Otherwise it returns why this node does not vote now, and no reply will come; a release is queued
  /// nevertheless. The pointer is valid until the next call.
  virtual const Trouble* send(NodeIndex node, std::string_view command, Operation& sender,
                              SendOptions options) = 0;
  /// Submits an operation, whose `parent` is the caller. It may be done when this returns; then `Operation::child_ended`
  /// was called. So call it last.
  virtual void submit(const Ref<Operation>& /*child*/) {}
  /// Abandons an operation that was submitted here. `child_ended` was called when this returns.
  virtual void abandon(const Ref<Operation>& /*child*/, Errc /*why*/) {}
  /// The lines in which calls of this client wait. Null where there are none.
  [[nodiscard]] virtual Lines* lines() noexcept { return nullptr; }
  /// Receives what is to be reported before an operation is done; see `Operation::tell` for the rest. May be null.
  [[nodiscard]] virtual Observer* observer() noexcept { return nullptr; }
  /// The releases of a lease of this client were sent to all nodes.
  virtual void released(std::string_view /*key*/, bool /*is_seat*/) {}
  /// The key was touched on this node, so that holders look at it; those of this client are not told by the node.
  virtual void touched(NodeIndex, std::string_view /*key*/) {}
  /// The client holds a lease from now on, until it lets it go: a claim was granted with this deadline.
  virtual void granted(Time /*deadline*/) noexcept {}
  /// One of these leases is not kept.
  virtual void taken_back() noexcept {}
  /// Where the restart guard keeps its data on every node. Valid as long as the engine; null without a restart guard.
  [[nodiscard]] virtual const MarkerKeys* marker_keys() const noexcept { return nullptr; }
  /// What is appended to commands that lack it, while the node may grant. Valid until the next event.
  [[nodiscard]] virtual RequiredMarker required_marker(NodeIndex) const noexcept { return {}; }
  /// The run_id that the server reported when the connection was made; empty if it reported none.
  [[nodiscard]] virtual std::string_view run_id(NodeIndex) const noexcept { return {}; }
  /// The connection does not lead to the server to which it was made: ends it, when this event is handled, and makes
  /// another one.
  virtual void give_up(NodeIndex, const Trouble&) {}
  /// Why a node may have forgotten keys, according to the restart guard. Returns null if there is no such reason. The
  /// pointer is valid until the next call.
  [[nodiscard]] virtual const Trouble* caveat(NodeIndex) { return nullptr; }
  /// Call it before a read for which `caveat` counts: another client may have marked the node since the restart guard has
  /// looked at it, and a client that only reads has no other reason to look, nor to dial nodes whose refusal is over.
  virtual void look_again(NodeIndex) {}
};

}  // namespace redlock::inline v1::core
