// Events for metrics and logs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "redlock/clock.hpp"
#include "redlock/error.hpp"
#include "redlock/export.hpp"
#include "redlock/node_report.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

/// Receives a client's events, for metrics and logs: set it in `Options::observer`. Override the functions
/// for the events you need. `Prometheus` is a ready-made observer.
///
/// Threads: a client calls its observer on a separate thread, one call at a time, in the order of the events,
/// some milliseconds after each event. An observer may therefore block and may use the client: no call waits
/// for it. If it is too slow and thousands of events are queued, further events are dropped and counted: see
/// `dropped`. If several clients share an observer, several threads call it.
///
/// Exceptions: the first exception that an observer throws is reported to `Options::on_warning`; later ones
/// are ignored.
///
/// Lifetime: destroying the last of a client and its leases blocks until all queued events have been
/// delivered; after that there are no more calls. If that happens inside a call of the observer, the
/// remaining events are dropped instead. If it happens inside another callback (see `Lease`), it does not
/// block, and the remaining events are delivered later. In a child of fork() no events are delivered.
class REDLOCK_EXPORT Observer {
 public:
  /// What a lock is used for. Later versions may add kinds.
  enum class Kind : std::uint8_t {
    exclusive,  ///< A lock with one holder. So is one that was adopted, whatever it was before.
    seat,       ///< A seat of a semaphore, or the call for any of them.
    leader,     ///< The lock of an `Election`.
    shared,     ///< A lock with `LockOptions::shared`: one reader's.
  };

  /// One attempt at a lock, which asks all nodes once. A call that waits makes several. An attempt at several locks is reported
  /// for each of them: when one fails, those under way fail for the same reason, and those that were granted before are
  /// given back although they are reported as acquired.
  struct Attempt {
    std::string resource = {};
    Kind kind = Kind::exclusive;
    std::optional<Errc> failure = {};   ///< Empty if the lock was acquired.
    Clock::duration took{};             ///< From just before the first byte is sent until the decision.
    bool second_round = false;          ///< A second round to some nodes had to confirm the fencing token.
    std::optional<Holder> holder = {};  ///< Who has the lock, if it is held and the nodes say.
  };
  virtual void attempted(const Attempt&) {}

  /// A finished call that could wait for a lock: `lock`, or `try_lock_for` with a positive time. Calls for several locks are
  /// reported for each of them, with the same outcome.
  struct Wait {
    std::string resource = {};
    Kind kind = Kind::exclusive;
    std::optional<Errc> failure = {};  ///< Empty if the call returned a lease.
    Clock::duration waited{};          ///< How long the call took.
  };
  virtual void waited(const Wait&) {}

  enum class LineStep : std::uint8_t {
    entered,   ///< The call stands in line, and knows its place.
    waiting,   ///< It still does; at most once a second.
    granted,   ///< It got the lock.
    left,      ///< It ended without the lock, or waits outside because too few nodes can be used.
    bypassed,  ///< Somebody else got the lock while the call was the first one in line. It goes on waiting.
    refused,  ///< It is not treated in order, because the user lacks rights on the nodes. Outside of the line.
  };
  /// A call that stands in line (`Order::fifo`). A call whose first attempt succeeds does not stand there. After *entered*
  /// comes *granted* or *left*.
  struct Line {
    std::string resource = {};
    Kind kind = Kind::exclusive;
    LineStep step = LineStep::entered;
    std::uint64_t position =
        0;  ///< From 1 on, if *entered* or *waiting*. A client with several calls counts as one.
    std::uint64_t length = 0;  ///< Of the line, likewise.
    Clock::duration waited{};  ///< How long it has stood there.
  };
  virtual void lined_up(const Line&) {}

  /// A lease that ended. Reported once for each lease that a call returns, when it is released or lost, whichever comes first.
  /// It may be reported before the call has returned the lease, which is lost then. If a lease ends earlier than that, it is not
  /// reported, and the call does not return it (see `LockOptions::on_lost`).
  struct Hold {
    std::string resource = {};
    Kind kind = Kind::exclusive;
    Clock::duration held{};              ///< Counted from the start of the attempt that acquired it.
    Clock::duration validity_left{};     ///< At the start of the release; zero if the lease had ended before.
    Release release = Release::unknown;  ///< Also *unknown* if the lease was handed over by `Lease::orphan`.
    Loss loss = Loss::none;  ///< Why it was lost; `release` is then *already_lost*. *deleted* if the
                             ///< release found it.
  };
  virtual void ended(const Hold&) {}

  /// A finished extension.
  struct Extension {
    std::string resource = {};
    Kind kind = Kind::exclusive;
    State state = State::held;  ///< The lease's state afterwards: *held* (on success), *in_doubt* or *lost*.
    Clock::duration took{};     ///< From just before the first byte is sent until the decision.
    std::optional<Clock::duration> late = {};  ///< How late a renewal started. Empty for `Lease::extend`.
  };
  virtual void extended(const Extension&) {}

  /// A call of `LockClient::break_lock` that has deleted a copy. Of a holder whose copies are on a minority of the nodes as well.
  struct Break {
    std::string resource = {};
    /// What others can see: *shared* if readers had it, *leader* if the owner value says so (`Holder::is_leader`), *seat* if the
    /// name is that of a seat, else *exclusive*.
    Kind kind = Kind::exclusive;
    std::size_t copies = 0;  ///< On how many nodes one was deleted, as far as they answered in time.
  };
  virtual void broken(const Break&) {}

  enum class NodeState : std::uint8_t {
    connecting,  ///< The client is connecting, for the first time or because a working connection was lost.
    ready,       ///< The node votes.
    barred,      ///< The node is connected but must not vote.
    down,        ///< Connecting failed. The client keeps trying; the same failure is reported only once.
  };
  /// A change of a node's state, or of the reason for it.
  struct Node {
    std::string node = {};  ///< The endpoint, without credentials.
    NodeState state = NodeState::connecting;
    std::optional<NodeStatus> trouble = {};  ///< Why it does not vote; empty while first connecting.
    std::string message = {};                ///< Details, as `NodeReport::message`; may be empty.
    bool reconnected = false;                ///< There is a new connection, and it is not the first one.
  };
  virtual void node_changed(const Node&) {}

  /// The certificate of a node's server, or the client's for that node (`TlsOptions::cert_file`). Reported when it is first
  /// used in a connection, and if it did not end soon then, once more when it does. A client that is not used reports
  /// nothing.
  struct Certificate {
    std::string node = {};           ///< The endpoint, without credentials.
    std::chrono::sys_seconds end{};  ///< From then on the server is refused, or refuses the client.
    bool ends_soon = false;          ///< Within 30 days.
    bool is_own = false;             ///< It is the client's.
  };
  virtual void certificate_seen(const Certificate&) {}

  /// Called with the number of events that were dropped just before the next event.
  virtual void dropped(std::uint64_t /*events*/) {}

  Observer() = default;
  virtual ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
};

/// Returns the enumerator's name, such as `"barred"`.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Observer::Kind) noexcept;
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Observer::NodeState) noexcept;
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Observer::LineStep) noexcept;
/// Writes that name.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, Observer::Kind);
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, Observer::NodeState);
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, Observer::LineStep);

}  // namespace v1
}  // namespace redlock

#ifdef __cpp_lib_format
template <>
struct std::formatter<redlock::Observer::Kind> : redlock::detail::NameFormatter<redlock::Observer::Kind> {};
template <>
struct std::formatter<redlock::Observer::NodeState>
    : redlock::detail::NameFormatter<redlock::Observer::NodeState> {};
template <>
struct std::formatter<redlock::Observer::LineStep>
    : redlock::detail::NameFormatter<redlock::Observer::LineStep> {};
#endif
