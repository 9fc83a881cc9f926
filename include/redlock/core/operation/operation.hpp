// The base class of all operations on the nodes.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/ref.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/operation/completion.hpp"
#include "redlock/core/operation/outbox.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1 {
class Observer;
}

namespace redlock::inline v1::core {

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

  /// An operation whose `parent` is this one is done, and has reported to the observer.
  virtual void child_ended(Operation& /*child*/, Time /*now*/, Outbox&) {}
  /// Returns false if it only submits other operations: it sends no commands itself.
  [[nodiscard]] virtual bool sends() const noexcept { return true; }

  /// How many connections to wait for before the start, while they are being made for the first time.
  [[nodiscard]] virtual std::size_t connections_wanted(std::size_t nodes) const { return quorum(nodes); }

  /// The key that its commands may write; empty if they write none.
  [[nodiscard]] virtual std::string_view written_key() const noexcept { return {}; }
  /// Reports a finished operation to the observer.
  virtual void tell(Observer&, Time /*ended*/) const {}
  /// The ttl of the lock that it needs grants for; zero if it needs none. With grants, it can only use nodes that may grant.
  [[nodiscard]] virtual std::chrono::milliseconds wanted_ttl() const noexcept { return {}; }
  [[nodiscard]] bool wants_grants() const noexcept {
    return wanted_ttl() > std::chrono::milliseconds::zero();
  }

  [[nodiscard]] bool done() const noexcept { return done_; }
  /// Before this time nothing is under way for it, so nobody needs to wait for replies.
  [[nodiscard]] virtual Time pauses_until() const noexcept { return Time::min(); }
  /// When to call `timed_out`. The node timeout counts from `start`.
  [[nodiscard]] Time deadline() const noexcept { return deadline_; }

  /// When the caller stops waiting; then the engine calls `abandon(timed_out)`. Set it before submitting the operation.
  Time give_up_at = never;
  /// Notified when the operation is done; may be null. Set it before submitting the operation.
  Completion* completion = nullptr;
  /// The operation that submits this one, and that is done no earlier; null if a caller submits it. Set it before
  /// submitting the operation.
  Operation* parent = nullptr;

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
