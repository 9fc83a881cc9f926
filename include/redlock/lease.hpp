// The guard that a successful lock returns.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <system_error>

#include "redlock/clock.hpp"
#include "redlock/duration.hpp"
#include "redlock/export.hpp"
#include "redlock/fencing_token.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

namespace detail {
class Client;
class LeaseRecord;
}  // namespace detail

/// A lock that is held, released when the guard goes.
///
/// | state    | meaning                                                          | leaves it by                           |
/// |----------|------------------------------------------------------------------|----------------------------------------|
/// | held     | the deadline is ahead: a majority holds our value until then      | any `Loss`, `release()`                |
/// | in_doubt | the last extension got no majority; the old deadline still holds  | one that succeeds; the others          |
/// | lost     | for the reason that `loss()` tells, for ever                      | never                                  |
/// | released | `release()` was called, or the guard was moved from               | never                                  |
///
/// The promise of *held* and *in_doubt* rests on the assumptions in docs/safety.md: clock rates within the drift
/// allowance, and nodes that do not forget. Check `remaining()` before work that must not overlap with a successor.
///
/// Threads: const members may be called from any thread at any time; `extend`, `release`, move and destruction
/// one at a time. A lease keeps the client's connections alive and may outlive the client object. In a child
/// after `fork()` a lease can be read, and sends nothing: the lock belongs to the parent. There `extend` fails
/// with *misconfigured*, and `release` answers *unknown*.
class [[nodiscard]] REDLOCK_EXPORT Lease {
 public:
  /// The lease moved from is *released*; its calls do nothing.
  Lease(Lease&&) noexcept;
  /// Releases the lease held so far, as `release()` does, then takes the other's. Self-move does nothing.
  Lease& operator=(Lease&&) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  /// As `release()`, blocking included. Never throws.
  ~Lease();

  /// The resource as given to the lock call; empty when moved from.
  [[nodiscard]] const std::string& resource() const noexcept;
  /// The random string, 40 hex digits, that proves ownership on the servers; empty when moved from.
  [[nodiscard]] const std::string& owner_value() const noexcept;
  /// Greater than that of every earlier acquisition of this resource, as long as a majority of the nodes keeps its counters
  /// (docs/fencing.md); the same for the lease's whole life. None (0) without `LockOptions::fencing`, and when moved from.
  [[nodiscard]] FencingToken fencing_token() const noexcept;
  /// A clock read and an atomic load; never asks the servers.
  [[nodiscard]] State state() const noexcept;
  /// `state()` is held or in_doubt.
  [[nodiscard]] bool valid() const noexcept;
  /// What is left until the deadline; zero when the lease is lost or released.
  [[nodiscard]] Clock::duration remaining() const noexcept;
  /// Until when exclusive use is promised; the epoch of the clock when moved from.
  [[nodiscard]] Clock::time_point deadline() const noexcept;

  /// Why it was lost; `Loss::none` while it is not, and where it was released in time.
  [[nodiscard]] Loss loss() const noexcept;
  /// Gets its stop request when the lease is lost: at the deadline at the latest, and at once when a majority of the nodes
  /// tells that our value is gone, or the client is shut down. Not when it is released. What is registered with it runs on
  /// a thread of the client's, and may not throw; releasing waits for it, unless it is called there. The first call starts
  /// that thread. Throws std::system_error when the system has none, `Error` (misconfigured) in a child of fork(). Without a
  /// stop state when moved from.
  ///
  /// From the first call on the lease is watched, as it is with `LockOptions::on_lost` and with `auto_renew`: the nodes tell
  /// of each change of its key, over a second connection each, which all leases of the client share. Where a server does
  /// not do that (see docs/errors.md, Permissions) it is asked every tenth of the ttl.
  [[nodiscard]] std::stop_token stop_token() const;
  /// Blocks until the lease is lost or released, the limit is over or a stop is requested. Whether it was lost. Its
  /// `on_lost` begins first then, unless no thread is free for it within 100 ms, because all hang in other callbacks.
  /// Throws as `stop_token()` does.
  bool wait_lost(Duration limit = Clock::duration::max(), const std::stop_token& stop = {}) const;

  /// Asks all nodes to let our value live for another full ttl, counted from now; never shortens. Blocks until a
  /// majority has answered, at most the node timeout, and never beyond the deadline.
  ///
  /// True: a majority really extended, within the old validity, and `deadline()` has moved. False: the lease is
  /// *lost* (and was released everywhere), or *in_doubt*: too few answered, the old deadline holds, try again.
  /// A lease whose deadline has passed is never extended. Throws `Error` (misconfigured) where a majority of the
  /// nodes refuses the script for a reason that no retry mends; the lease is then in doubt.
  bool extend();
  /// The same; `ec` is cleared on success, else Errc::lost, Errc::no_quorum (in doubt) or Errc::misconfigured.
  /// Throws for lack of memory only.
  bool extend(std::error_code& ec);

  /// Compare-and-delete on all nodes: never touches a successor's lock. Blocks until a majority has answered, at
  /// most the node timeout; nodes without a connection get the release when they are back, or the copy expires.
  /// A second call answers as the first did.
  Release release() noexcept;

  /// Leaves the lock to somebody else, who takes it over by `LockClient::adopt`: in another thread, process or machine. The
  /// nodes keep it until the deadline at least. From now on this guard neither renews nor releases it, tells no loss, and is
  /// *released*; resource, owner value, token and deadline can still be read, to hand them over. Do not touch
  /// what the lock guards any more. Blocks as far as a callback of this lease runs on another thread; asks no node.
  /// Whether the lease was in force until now; if not, there is nothing to be adopted.
  bool orphan() noexcept;

 private:
  friend class detail::Client;
  Lease(std::shared_ptr<detail::Client>, std::shared_ptr<detail::LeaseRecord>) noexcept;

  std::shared_ptr<detail::Client> client_;  // null when moved from, as is the record
  std::shared_ptr<detail::LeaseRecord> record_;
};

}  // namespace v1
}  // namespace redlock
