// What every operation on the nodes is: started, answered, timed out, done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/base/ref.hpp"
#include "redlock/core/base/time.hpp"
#include "redlock/core/wire/reply.hpp"
#include "redlock/core/wire/trouble.hpp"
#include "redlock/status.hpp"

namespace redlock::inline v1 {
class Observer;
}

namespace redlock::inline v1::core {

class Operation;

/// Which of an operation's commands a reply answers. Each operation has its own.
using Step = std::uint8_t;

/// How a command is to travel.
struct SendOptions {
  Step step = 0;
  Time send_by = never;  ///< Not sent after this time: a SET that nobody waits for any more does only harm.
  bool owed = false;     ///< A release: kept for a node without a connection until it is back.
  bool grants = false;   ///< Only for nodes that may grant, as the guard says.
  bool heeded = false;   ///< Its answer is read also when nobody waits any more. That of a release always is.
};

/// Where operations put their commands. The engine, or a test that notes what is sent to whom.
class Outbox {
 public:
  virtual ~Outbox() = default;
  /// Queues one command behind all earlier ones to this node. Null: its reply, or `disconnected`, will come
  /// to `sender`. Otherwise why this node does not vote now; no reply will come (an owed command is kept all
  /// the same). The pointer is valid until the next call.
  virtual const Trouble* send(NodeIndex node, std::string_view command, Operation& sender,
                              SendOptions options) = 0;
  /// What the markers of nodes that may grant begin with; empty: nobody guards restarts.
  [[nodiscard]] virtual std::string_view marker() const noexcept { return {}; }
  /// What the guard has to say of a node that is looked at. The pointer is valid until the next call.
  [[nodiscard]] virtual const Trouble* remark(NodeIndex) { return nullptr; }
};

/// A state machine over one fan-out. The engine calls it under the client's mutex, in this order: `start`
/// once, then the others in any order, `answered` also after it is done: late replies go to the operation
/// that asked, never to its successor. It reads no clock, and sends only through the outbox it is given.
class Operation : public Counted {
 public:
  virtual ~Operation() = default;

  /// Sends the first commands. `now` is before the first byte of them is written.
  virtual void start(Time now, Outbox&) = 0;
  virtual void answered(NodeIndex, Step, const Reply&, Time now, Outbox&) = 0;
  /// The connection is gone: no more replies come from it, and what it granted before counts no longer.
  virtual void disconnected(NodeIndex, const Trouble&, Time now, Outbox&) = 0;
  /// `deadline()` has passed.
  virtual void timed_out(Time now, Outbox&) = 0;
  /// The caller gives up. Undoes what may have been done, and is done.
  virtual void abandon(Errc why, Time now, Outbox&) = 0;

  /// How many connections are worth waiting for, as long as they are being made for the first time.
  [[nodiscard]] virtual std::size_t connections_wanted(std::size_t nodes) const { return quorum(nodes); }

  /// Once done: what of it is worth counting.
  virtual void tell(Observer&, Time /*ended*/) const {}
  /// Whether it asks for grants, so that connections to nodes that may not grant are of no use.
  [[nodiscard]] virtual bool wants_grants() const noexcept { return false; }

  [[nodiscard]] bool done() const noexcept { return done_; }
  /// When `timed_out` is to be called; the node timeout counts from `start`.
  [[nodiscard]] Time deadline() const noexcept { return deadline_; }

  /// When the caller stops waiting: `abandon(timed_out)` is called. Set before the operation is submitted.
  Time give_up_at = never;
  /// The caller's parking place; belongs to whoever waits.
  void* waiter = nullptr;

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

/// What is said of nodes that did not answer in time.
[[nodiscard]] inline Trouble no_answer_within(Span waited) {
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(waited);
  return {NodeStatus::timed_out, "no answer within " + std::to_string(whole.count()) + " ms"};
}

}  // namespace redlock::inline v1::core
