// Locks in memory, for unit tests without servers.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "redlock/clock.hpp"
#include "redlock/duration.hpp"
#include "redlock/export.hpp"
#include "redlock/lock_client.hpp"
#include "redlock/options.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

namespace detail {
class FakeShell;
}

/// What a node of `FakeLocks` does.
enum class FakeNodeState : std::uint8_t {
  working,   ///< It answers at once.
  refusing,  ///< It refuses connections, and has closed those that it had. It keeps its keys.
  hanging,   ///< It accepts connections and answers nothing; what is sent to it is lost.
};

/// Returns the enumerator's name, such as `"refusing"`. Never fails.
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(FakeNodeState) noexcept;
/// Writes that name.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, FakeNodeState);

/// A `LockClient` without servers, sockets and real waiting. Give it to code that takes a `LockClient&`, such as
/// examples/testing/invoicing.hpp:
///
///     redlock::testing::FakeLocks locks;
///     Invoicing invoicing{locks, pay};
///     locks.take("invoice/42", 10s);                    // somebody else has this lock
///     CHECK_FALSE(invoicing.settle(42));
///     locks.advance(10s);                               // now it has expired
///     CHECK(invoicing.settle(42));
///
/// It is the library's own client, with nodes and a clock in memory. So results, codes, messages, node reports,
/// holders, tokens, renewals and losses are those of a real client whose nodes behave that way. All users of one
/// `FakeLocks` share its locks and exclude each other.
///
/// Time is virtual: it moves only by `advance`, `lose` and `take`, by a call that waits (for a lock, a loss, or a node
/// that hangs), and by as much as that call would have waited. `Lease::remaining` and all deadlines are measured by it.
/// Compare a deadline with `now()` instead of `Clock::now()`. Three calls use real time, too. `LockClient::try_lock_until` and
/// `Mutex::try_lock_until` read the clock of their deadline. `Mutex::try_lock_for` waits in real time while another thread
/// has the same `Mutex`, and subtracts that wait from its limit.
///
/// Callbacks: `LockOptions::on_lost` and stop callbacks run on the thread that moves the time or calls `shut_down` or
/// `set_node`, in the order of the losses, and before that call returns. An exception that one throws is reported to
/// `Options::on_warning`. An `Options::observer` has a thread of its own, as it has in every client. A callback may destroy
/// the `FakeLocks` whose call runs it.
///
/// What differs from `Redlock`: there is no restart guard, so nodes do not lose their data, need no marker, and
/// allow any ttl up to 365 days. A call without a time limit for a lock that is never released runs for ever, and so does
/// `Lease::wait_lost` for a lease that is never lost.
///
/// Threads: any thread may make any call at any time. But a thread that waits moves the time for all of them, and a release
/// does not wait for a callback that has begun on another thread. Errors are those of `LockClient`.
///
/// Nothing remains when the object and its leases are gone. It is in the library redlock itself: a test that uses it
/// does not link `redlock::testing`.
class REDLOCK_EXPORT FakeLocks : public LockClient {
 public:
  /// Makes a client of 1 to 31 nodes, all working. `options` are those of `Redlock`; the restart guard is off. Throws
  /// `Error` (`invalid_argument`) for others.
  explicit FakeLocks(int nodes = 3, Options options = {});

  /// Lets the time pass: keys expire, leases are renewed or lost, callbacks run. Does not block. Negative durations
  /// count as zero. The time stops ten years before `Clock::time_point::max()`. A lease that renews itself costs a
  /// step for each third of its ttl.
  void advance(Duration);
  /// Returns the virtual time.
  [[nodiscard]] Clock::time_point now() const noexcept;

  /// Gives the lock to somebody else, for `ttl`, whoever had it: on all nodes, with an owner value that has `label`. A
  /// lease that is watched (`on_lost`, `stop_token`, `wait_lost`; `Renewal::automatic` after a second) is then lost
  /// (`Loss::taken`) when this returns; another one, and a shared one, learns of it from a renewal, `extend` or `release`. Moves
  /// the time by 10 ms. Throws `Error` (`invalid_argument`) for a resource, ttl (10 ms to 365 days) or label that a
  /// lock cannot have.
  void take(std::string_view resource, Duration ttl, std::string_view label = "somebody else");
  /// Deletes the lock on all nodes, whoever had it. As `take`, with `Loss::deleted`.
  void lose(std::string_view resource);

  /// Changes what a node does from now on. A node that works again gets its next connection within a second of
  /// virtual time. `node` counts from 0; throws `std::out_of_range` for others.
  void set_node(int node, FakeNodeState);

 private:
  struct REDLOCK_INTERNAL Parts;
  REDLOCK_INTERNAL explicit FakeLocks(Parts);

  detail::FakeShell* shell_;  // belongs to the client
  std::string prefix_;
};

}  // namespace v1

namespace testing {
using redlock::FakeLocks;
using redlock::FakeNodeState;
}  // namespace testing

}  // namespace redlock

#ifdef __cpp_lib_format
template <>
struct std::formatter<redlock::FakeNodeState> : redlock::detail::NameFormatter<redlock::FakeNodeState> {};
#endif
