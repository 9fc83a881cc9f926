// The base class of all operations on the nodes, and how operations send commands.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/ref.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/operation/completion.hpp"
#include "redlock/core/wire/marker.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1 {
class Observer;
}

namespace redlock::inline v1::core {

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

/// Where operations send their commands to. Implemented by the engine, and by tests that record what is sent.
class Outbox {
 public:
  virtual ~Outbox() = default;
  /// Queues one command after all earlier ones to this node. If it returns null, `sender` will receive the reply or
  /// `disconnected`. Otherwise it returns why this node does not vote now, and no reply will come; a release is queued
  /// nevertheless. The pointer is valid until the next call.
  virtual const Trouble* send(NodeIndex node, std::string_view command, Operation& sender,
                              SendOptions options) = 0;
  /// The client holds a lease from now on, until it lets it go: a claim was granted with this deadline.
  virtual void granted(Time /*deadline*/) noexcept {}
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
};

/// A state machine for commands to several nodes. The engine calls it under the client's mutex: first `start`, once, and
/// then the other functions in any order. `answered` may be called even after the operation is done, because a late
/// reply belongs to the operation that sent the command. An operation reads no clock, and sends only through the outbox
/// that it is passed.
class Operation : public Counted {
 public:
  virtual ~Operation() = default;

  /// Sends the first commands. `now` is not after the time at which their first byte is written.
  virtual void start(Time now, Outbox&) = 0;
  virtual void answered(NodeIndex, Step, const Reply&, Time now, Outbox&) = 0;
  /// The connection was lost: no more replies will arrive, and earlier grants of this node no longer count.
  virtual void disconnected(NodeIndex, const Trouble&, Time now, Outbox&) = 0;
  /// `deadline()` has passed.
  virtual void timed_out(Time now, Outbox&) = 0;
  /// The caller gives up. Undoes what may have been done on the nodes; the operation is done then.
  virtual void abandon(Errc why, Time now, Outbox&) = 0;

  /// How many connections to wait for before the start, while they are being made for the first time.
  [[nodiscard]] virtual std::size_t connections_wanted(std::size_t nodes) const { return quorum(nodes); }

  /// Reports a finished operation to the observer.
  virtual void tell(Observer&, Time /*ended*/) const {}
  /// The ttl of the lock that it needs grants for; zero if it needs none. With grants, it can only use nodes that may grant.
  [[nodiscard]] virtual std::chrono::milliseconds wanted_ttl() const noexcept { return {}; }
  [[nodiscard]] bool wants_grants() const noexcept {
    return wanted_ttl() > std::chrono::milliseconds::zero();
  }

  [[nodiscard]] bool done() const noexcept { return done_; }
  /// When to call `timed_out`. The node timeout counts from `start`.
  [[nodiscard]] Time deadline() const noexcept { return deadline_; }

  /// When the caller stops waiting; then the engine calls `abandon(timed_out)`. Set it before submitting the operation.
  Time give_up_at = never;
  /// Notified when the operation is done; may be null. Set it before submitting the operation.
  Completion* completion = nullptr;

 protected:
  void finish() noexcept { done_ = true; }
  void set_deadline(Time deadline) noexcept { deadline_ = deadline; }

 private:
  friend class OperationList;
  bool done_ = false;
  Time deadline_ = never;
  // For the bookkeeping of `OperationList`.
  bool started_ = false;
  Time submitted_at_{};
  std::size_t position_ = 0;
};

/// The trouble of a node that did not answer in time.
[[nodiscard]] inline Trouble no_answer_within(Span waited) {
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(waited);
  return {NodeStatus::timed_out, "no answer within " + std::to_string(whole.count()) + " ms"};
}

}  // namespace redlock::inline v1::core
