// What is worth counting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "redlock/clock.hpp"
#include "redlock/error.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/loss.hpp"
#include "redlock/node_report.hpp"

namespace redlock {
inline namespace v1 {

/// Is told what a client does, for metrics and logs: `Options::observer`. Override what you want to hear of. `Prometheus`
/// is one that is ready to use.
///
/// Threads: a client calls its observer on a thread of its own, one call at a time, in the order of the events, some
/// milliseconds after them. So an observer may block, and may use the client; nobody waits for it. What comes too fast for
/// it, while thousands of events wait, is left out and counted: `dropped`. One that several clients share is called by
/// several threads.
///
/// What it throws is told to `Options::on_warning`, the first time. When the client is gone, which is when its object and its
/// leases are, everything has been told and no call comes any more: whoever destroys the last of them waits for that, unless
/// it happens in a call of the observer; then the rest is left out. In a child of fork() nothing is told.
class REDLOCK_EXPORT Observer {
 public:
  /// One fan-out to all nodes for a lock. A waiting call makes several.
  struct Attempt {
    std::string resource = {};
    std::optional<Errc> failure = {};  ///< None: it was acquired.
    Clock::duration took{};            ///< From before its first byte to the verdict.
    bool second_round = false;         ///< Some nodes were asked to confirm the fencing token.
  };
  virtual void attempted(const Attempt&) {}

  /// A call that was ready to wait for a lock: `lock`, or `try_lock_for` with a time.
  struct Wait {
    std::string resource = {};
    std::optional<Errc> failure = {};  ///< None: it returned a lease.
    Clock::duration waited{};          ///< From the call to its end.
  };
  virtual void waited(const Wait&) {}

  /// A lease that is over: told once for each, when it is released or lost, whichever comes first.
  struct Hold {
    std::string resource = {};
    Clock::duration held{};              ///< From the beginning of the attempt that acquired it.
    Clock::duration validity_left{};     ///< When the release began; zero where it had ended before.
    Release release = Release::unknown;  ///< *unknown* also where it was left by `Lease::orphan`.
    Loss loss = Loss::none;              ///< Why it was lost. `release` is *already_lost* then.
  };
  virtual void ended(const Hold&) {}

  /// An extension that is over.
  struct Extension {
    std::string resource = {};
    State state = State::held;  ///< What follows from it: *held*, if it succeeded, *in_doubt* or *lost*.
    Clock::duration took{};     ///< From before its first byte to the verdict.
    std::optional<Clock::duration> late = {};  ///< It began so long after it was due. None: by a call.
  };
  virtual void extended(const Extension&) {}

  enum class NodeState : std::uint8_t {
    connecting,  ///< A connection is being made, for the first time or because a good one was lost.
    ready,       ///< It votes.
    barred,      ///< It is connected and may not vote.
    down,        ///< No connection can be had. It is tried again; the same failure is not told twice.
  };
  /// A node that has another state than before, or the same for another reason.
  struct Node {
    std::string node = {};  ///< The endpoint, without credentials.
    NodeState state = NodeState::connecting;
    std::optional<NodeStatus> trouble = {};  ///< Why it does not vote; none when first connecting.
    std::string message = {};                ///< Details; may be empty.
    bool reconnected = false;                ///< By a new connection, which is not the first.
  };
  virtual void node_changed(const Node&) {}

  /// So many events were left out just before the next one.
  virtual void dropped(std::uint64_t /*events*/) {}

  Observer() = default;
  virtual ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
};

/// The enumerator's name: `"barred"`.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Observer::NodeState) noexcept;

}  // namespace v1
}  // namespace redlock
