// The calls that both kinds of lock share.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <vector>

#include "redlock/duration.hpp"
#include "redlock/error.hpp"
#include "redlock/export.hpp"
#include "redlock/fencing_token.hpp"
#include "redlock/lease.hpp"
#include "redlock/options.hpp"

namespace redlock {
inline namespace v1 {

/// The surface of `Redlock` and `SingleNodeLock`. Not made directly.
///
/// Threads: every call from any thread at any time, on one object. Move and destruction are the caller's to
/// order, as with any object; one that was moved from can only be assigned to or destroyed. One client per
/// process is enough: its connections, one per node and a second one once a lease is watched, are shared by all threads
/// and locks. They are made by the first call that needs them. The client's own threads look up names, run loss callbacks
/// and the observer, and, while no call waits, renew, redial and see releases off; they block all signals. A signal does
/// not end a call; a stop request does.
///
/// A *resource* is any bytes, 1 to 4096 of them, not starting with `redlock:`. Every attempt has a fresh
/// owner value. An attempt that fails has queued its releases on every node before the call returns, so
/// nothing stays behind but on nodes whose connection broke, where the copy expires after at most the ttl.
///
/// Errors: `held` and `timed_out` are empty optionals; all others throw `Error` with a report per node. Where a lease is to
/// renew itself or its loss to be told, and the system has no thread or timer for that, the call throws
/// std::system_error, and has released the lock again. The
/// overloads with `std::error_code&` throw for lack of memory only, set `ec` to the outcome (`Errc::held` and
/// `Errc::timed_out` included, or the system's error when it has no threads), and clear it on success. No
/// call may be made in a child of `fork()` on a client made before it: such a call fails with
/// `misconfigured`.
///
/// Destruction releases nothing: leases live on, and keep the connections. Who destroys the last of client
/// and leases sends what is still to be sent, for at most 250 ms. `shut_down` tells the holders to end.
class REDLOCK_EXPORT LockClient {
 public:
  LockClient(LockClient&&) noexcept;
  LockClient& operator=(LockClient&&) noexcept;
  LockClient(const LockClient&) = delete;
  LockClient& operator=(const LockClient&) = delete;

  /// One attempt. Empty: somebody else has it. Blocks until a majority has decided, at most the node timeout
  /// (a first call also for connections, at most the connect timeout).
  std::optional<Lease> try_lock(std::string_view resource, const LockOptions& options = {});
  /// The same; `ec` tells why there is no lease.
  std::optional<Lease> try_lock(std::string_view resource, const LockOptions& options, std::error_code& ec);

  /// Attempts, with growing random pauses, until the lock is acquired or the time is over. Empty: still held.
  /// When at the end too few nodes voted, that is what is thrown (no_quorum); misconfiguration of a majority
  /// ends the call at once. A time of zero or less is one whole attempt, as `try_lock`. A stop request ends
  /// the call at once with `cancelled`.
  std::optional<Lease> try_lock_for(std::string_view resource, Duration wait, const LockOptions& options = {},
                                    std::stop_token stop = {});
  /// The same; `ec` tells why there is no lease.
  std::optional<Lease> try_lock_for(std::string_view resource, Duration wait, const LockOptions& options,
                                    std::stop_token stop, std::error_code& ec);

  /// As `try_lock_for` without end: returns with the lock, or throws `cancelled` or `misconfigured`.
  Lease lock(std::string_view resource, const LockOptions& options = {}, std::stop_token stop = {});
  /// The same; empty when `ec` is `cancelled` or `misconfigured`.
  std::optional<Lease> lock(std::string_view resource, const LockOptions& options, std::stop_token stop,
                            std::error_code& ec);

  /// Takes over the lock of a holder who has left it by `Lease::orphan`, or has died: the owner value becomes a fresh one on
  /// a majority of the nodes, and the lease is in force for a full ttl. The lock is never free in between. One attempt,
  /// blocking as `try_lock` does. Of two who adopt the same lock one has it at most; where neither has, both may try again.
  /// Empty: a majority of the nodes has somebody else's value, or none. After other failures the lock lives for another
  /// ttl at least; on nodes whose connection broke the adopter's value stays until it expires.
  ///
  /// `token`: that of the lock, `FencingToken{}` if it has none. The lease gets a new and greater one, as it would for any
  /// other acquisition, so that a holder who has not left after all is fenced off. Such a holder is told (`Loss::taken`)
  /// with its next extension, or at once where it is watched by another client.
  std::optional<Lease> adopt(std::string_view resource, std::string_view owner_value, FencingToken token,
                             const LockOptions& options = {});
  /// The same; `ec` tells why there is no lease, `Errc::lost` where it was gone.
  std::optional<Lease> adopt(std::string_view resource, std::string_view owner_value, FencingToken token,
                             const LockOptions& options, std::error_code& ec);

  /// Asks every node who holds the resource and for how long. Changes nothing. Blocks until all have
  /// answered, at most the node timeout (250 ms unless set) after the connect timeout. Throws for bad
  /// arguments only; what is wrong with a node stands in its report. The answer is old when it arrives: never
  /// decide by it.
  std::vector<NodeReport> inspect(std::string_view resource);
  /// The same; empty when `ec` is set.
  std::vector<NodeReport> inspect(std::string_view resource, std::error_code& ec);

  /// For a program that is about to end: all leases of this client are lost (`Loss::shut_down`), which is told as any loss
  /// is, and nothing renews them. Calls that wait for a lock, and all that ask for one from now on, end with `cancelled`.
  /// Does not block, and releases nothing: a lock stays on the nodes until its holder, who has to stop first, releases or
  /// destroys the lease, at most for the rest of its ttl. Once is enough. Throws `misconfigured` in a child of `fork()`,
  /// else for lack of memory only.
  void shut_down();

 protected:
  explicit LockClient(std::shared_ptr<detail::Client>) noexcept;
  ~LockClient();

 private:
  std::shared_ptr<detail::Client> client_;
};

}  // namespace v1
}  // namespace redlock
