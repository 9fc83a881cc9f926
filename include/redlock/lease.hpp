// The lease that a successful lock call returns.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>

#include "redlock/clock.hpp"
#include "redlock/duration.hpp"
#include "redlock/export.hpp"
#include "redlock/fencing/sequencer.hpp"
#include "redlock/fencing_token.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

namespace detail {
class Client;
class LeaseRecord;
}  // namespace detail

/// What it takes to adopt a lock: see `Lease::orphan` and `LockClient::adopt`. Anyone who has it can take the
/// lock or release it: send it over channels that you trust, and do not log it. A plain value.
struct Handover {
  std::string resource;     ///< As given to the lock call.
  std::string owner_value;  ///< The value of the lock's key: 1 to 1024 bytes.
  FencingToken token = {};  ///< The lock's fencing token; none (0) if it has none.

  /// Returns a text that can be sent to another process: printable ASCII without spaces, at most 10300 characters.
  [[nodiscard]] REDLOCK_EXPORT std::string to_string() const;
  /// Takes such a text apart. Throws `Error` (invalid_argument) if it is none.
  [[nodiscard]] REDLOCK_EXPORT static Handover parse(std::string_view text);

  friend bool operator==(const Handover&, const Handover&) = default;
};

/// A lock that is held. The destructor releases it.
///
/// | state    | meaning                                                              | can change to            |
/// |----------|----------------------------------------------------------------------|--------------------------|
/// | held     | a majority of the nodes holds the owner value until the deadline     | in_doubt, lost, released |
/// | in_doubt | the last extension got no majority; the old deadline is still valid  | held, lost, released     |
/// | lost     | the lock was lost, for the reason given by `loss()`                  | –                        |
/// | released | `release()` or `orphan()` was called, or the lease is empty          | –                        |
///
/// The guarantee of *held* and *in_doubt* relies on the assumptions in docs/safety.md: clock rates within the
/// drift allowance, and nodes that do not lose data unnoticed. Check `remaining()` before work that must not
/// overlap with that of the next holder.
///
/// Threads: any thread may call const members at any time, also during a call of `extend`, `release` or
/// `orphan`. Only one call of these three may run at a time. While the lease is being moved or destroyed, no
/// other call may run.
///
/// Callbacks: a callback is a function of the user that a client calls on one of its own threads: `on_lost`,
/// a stop callback, an observer, `Options::on_warning`. It may release, orphan and destroy any lease, and
/// destroy any client. No release, orphan or destruction inside a callback waits for another callback, so two
/// callbacks that release each other's leases cannot block each other. The price: when a release inside a
/// callback returns, a callback of the released lease that had begun on another thread may still be running,
/// and what it uses must live until it returns. No callback of that lease begins afterwards.
///
/// Lifetime: a lease keeps the client's connections alive and may outlive the client object.
///
/// fork(): in a child process a lease can be read but sends nothing, because the lock belongs to the parent.
/// There `extend` fails with *invalid_argument* and `release` returns *unknown*.
class [[nodiscard]] REDLOCK_EXPORT Lease {
 public:
  /// An empty lease: *released*, as one that was moved from. Calls on it have no effect.
  Lease() noexcept;
  /// Leaves the source empty.
  Lease(Lease&&) noexcept;
  /// Releases the lease held so far, as `release()` does, then takes over the other one. Self-move has no
  /// effect.
  Lease& operator=(Lease&&) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  /// Calls `release()`, which may block. Never throws.
  ~Lease();

  /// Returns the resource as given to the lock call; empty for an empty lease.
  [[nodiscard]] const std::string& resource() const noexcept;
  /// Returns the value that proves ownership on the servers: 40 random hex digits, a label and a time (see
  /// `Holder`); empty for an empty lease.
  [[nodiscard]] const std::string& owner_value() const noexcept;
  /// Returns the fencing token. It is greater than that of every earlier acquisition of this resource, as
  /// long as a majority of the nodes keeps its counters (docs/fencing.md), and never changes during the
  /// lease. Returns no token (0) if `LockOptions::fencing` is false or the lease is empty.
  [[nodiscard]] FencingToken fencing_token() const noexcept;
  /// Returns what another service needs to check that a request comes from the holder of this lease: see `Sequencer`. It never
  /// changes during the lease, and can be had after its end. Contacts no node. Throws `Error` (invalid_argument) for an empty
  /// lease.
  [[nodiscard]] Sequencer sequencer() const;
  /// Returns the state. Costs a clock read and an atomic load; never contacts the servers.
  [[nodiscard]] State state() const noexcept;
  /// Returns true if `state()` is *held* or *in_doubt*.
  [[nodiscard]] bool valid() const noexcept;
  /// Returns the time left until the deadline; zero if the lease is lost or released.
  [[nodiscard]] Clock::duration remaining() const noexcept;
  /// Returns until when the lock is guaranteed: until then nobody else holds it, or for a shared lease, no writer does. The
  /// clock's epoch for an empty lease.
  [[nodiscard]] Clock::time_point deadline() const noexcept;

  /// Returns why the lease was lost; `Loss::none` if it is still valid or was released before anybody noticed a loss. If the
  /// release finds that the owner value is gone, only its result says so, *already_lost*, and the observer's event.
  [[nodiscard]] Loss loss() const noexcept;
  /// Returns a token that gets a stop request when the lease is lost: at the deadline at the latest, and at
  /// once when a majority of the nodes reports that the owner value is gone, or when the client is shut down.
  /// A release makes no stop request. The returned token has no stop state if the lease is empty.
  ///
  /// Stop callbacks run on one of the client's threads and must not throw. A release waits for them, unless
  /// it is called inside a callback (see above). The destructor of a `std::stop_callback` waits for its
  /// callback wherever it is called. So two stop callbacks that destroy each other's `std::stop_callback` block
  /// for ever: release the lease there, and destroy the `std::stop_callback` elsewhere.
  ///
  /// The first call starts watching the lease, on the client's threads; with `LockOptions::on_lost` the lease
  /// is watched from the start, and with `Renewal::automatic` after a second. The nodes report each change of
  /// a watched lease's key over a second connection to each node, which all leases of the client share. A
  /// server that does not support this (see docs/errors.md, Permissions) is polled every tenth of the ttl.
  /// The call does not wait for the nodes.
  ///
  /// Throws `std::system_error` if the system cannot provide the thread, and `Error` (invalid_argument) in a
  /// child of fork().
  [[nodiscard]] std::stop_token stop_token() const;
  /// Blocks until the lease is lost or released, `limit` is over or a stop is requested. Returns true if the
  /// lease was lost. In that case its `on_lost` callback has already started, unless no thread became free
  /// for it within 100 ms because all of them are blocked in other callbacks. A callback may call this; it then
  /// waits for the loss of the lease, as any other thread does, and keeps its thread from other callbacks.
  /// Throws as `stop_token()` does.
  bool wait_lost(Duration limit = Clock::duration::max(), const std::stop_token& stop = {}) const;

  /// Extends the lease: asks all nodes to keep the owner value for another full ttl, counted from now. Never
  /// moves the deadline back. Blocks until a majority has answered, for at most the node timeout and never
  /// beyond the deadline.
  ///
  /// Returns true if a majority extended it while the old validity lasted; `deadline()` has then moved.
  /// Otherwise returns false, and the lease is either *lost*, and a release deletes what is left of it on the
  /// nodes, or *in_doubt*: too few nodes answered, the old deadline is still valid, and another call may succeed.
  /// A lease whose deadline has passed is never extended.
  ///
  /// Throws `Error`: misconfigured if a majority of the nodes refuses the extension for a reason that no
  /// retry can fix, and the lease is then in doubt; invalid_argument in a child of fork().
  [[nodiscard]] bool extend();
  /// As above. Clears `ec` on success; otherwise sets it to `Errc::lost` (also for a lease that is released or
  /// empty), `Errc::no_quorum` (in doubt), `Errc::misconfigured` or, in a child of fork(), `Errc::invalid_argument`. Throws
  /// only if memory runs out.
  bool extend(std::error_code& ec);

  /// Releases the lock: deletes the owner value on all nodes, and never another holder's value. If `LockOptions::at_least` is not
  /// over yet, the nodes keep the lock without a holder until then. Blocks until a majority has answered, for at most the
  /// node timeout, and while a callback of this lease runs on another thread; inside a callback it does not wait for
  /// another one (see above). Nodes without a connection get the release when they reconnect, or their copy
  /// expires. A release is not sent again if the connection on which it was sent breaks. Later calls return the same
  /// result. After `orphan`, and for an empty lease, it contacts no node and
  /// returns *already_lost*: the lock of an orphaned lease stays for its adopter, and `loss()` is `Loss::none`.
  Release release() noexcept;

  /// Gives up the lease without releasing the lock, and returns what `LockClient::adopt` needs to take the lock
  /// over on another thread, process or machine. The nodes keep the lock at least until the deadline. This lease
  /// becomes *released*: it is no longer renewed, does not release the lock, and reports no loss. Do not use
  /// what the lock protects any more.
  ///
  /// Returns none if the lease was not valid any more, in a child of fork(), or if `release` or `orphan` was
  /// called before: then there is nothing to adopt, and the lease is as it was.
  ///
  /// Contacts no node. Blocks only while a callback of this lease runs on another thread, and not at all
  /// inside a callback. Throws `Error` (invalid_argument) for a shared lease, which nobody can adopt; otherwise only if memory
  /// runs out. The lease is then as it was.
  [[nodiscard]] std::optional<Handover> orphan();

 private:
  friend class detail::Client;
  REDLOCK_INTERNAL Lease(std::shared_ptr<detail::Client>, std::shared_ptr<detail::LeaseRecord>) noexcept;

  std::shared_ptr<detail::Client> client_;  // null if empty, as is the record
  std::shared_ptr<detail::LeaseRecord> record_;
};

}  // namespace v1
}  // namespace redlock
