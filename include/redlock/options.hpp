// What can be chosen, per client and per lock.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "redlock/duration.hpp"
#include "redlock/loss.hpp"

namespace redlock {
inline namespace v1 {

class Observer;
/// What happens to a node that lost its data, and with it perhaps locks that are still held. It gets no vote until
/// `max_ttl` has passed, so that it cannot help a second holder.
enum class RestartGuard {
  automatic,  ///< Nodes that have all no data are new, and vote at once.
  strict,     ///< They wait as well: all may have lost it at the same time.
  off,        ///< Nothing is noticed. For tests, and for locks that only save work.
};

/// Per client. Checked when the client is made; what is out of range throws `Error` with
/// `Errc::misconfigured`.
struct Options {
  /// How long a node may take from the first byte of dialling to the end of the login, names included, and
  /// the longest that a first call waits for connections. 1 ms to 60 s.
  Duration connect_timeout = std::chrono::milliseconds{500};

  /// How long one node may take to answer before an operation goes on without it. 1 ms to 60 s. Unset: the
  /// smaller of 250 ms and a tenth of the ttl, so that a hung node never eats the validity. A connection on
  /// which answers are due and nothing arrives for four node timeouts (1 s when unset) is given up and
  /// redialled.
  std::optional<Duration> node_timeout = std::nullopt;

  /// How far clock rates may differ over one ttl: subtracted from every validity. From 0 to less than the
  /// ttl. Unset: a hundredth of the ttl plus 2 ms.
  std::optional<Duration> drift = std::nullopt;

  /// How long the nodes remember a resource's last fencing token while nobody locks it: this, or ten ttls where that
  /// is longer. Zero: for ever. All users of a lock must agree, as each acquisition and extension sets it anew. After that
  /// time tokens go on from the clients' clocks: they still grow unless one of these is behind by as much. 0 to 3650 days.
  Duration fence_memory = std::chrono::hours{24 * 30};

  /// Whether nodes that lost their data are kept from voting. The nodes remember it in `redlock:node` and
  /// `redlock:quarantine`; all users of the nodes must agree on it, on `durable_nodes`, on `max_ttl` and on the nodes.
  /// `SingleNodeLock` promises nothing after a restart, and takes only `automatic`, which it does not heed, and `off`.
  RestartGuard restart_guard = RestartGuard::automatic;

  /// Every write is on the nodes' disks before it is answered (`appendfsync always`): a node that restarts with its data
  /// votes at once. One that comes back without any does not. With `RestartGuard::off` of no effect.
  bool durable_nodes = false;

  /// The longest ttl of any lock on these nodes: a call for a longer one is refused, and a node that lost its data waits for
  /// so long, and the drift. 10 ms to 365 days. With `RestartGuard::off` of no effect.
  Duration max_ttl = std::chrono::seconds{60};

  /// Put before every resource to make the key. Any bytes, up to 1024 of them; the key may not start with
  /// `redlock:`. All users of a lock must agree.
  std::string key_prefix = {};

  /// Told, during construction and on the constructing thread, of choices that work but are unwise (an even
  /// number of nodes); what it throws then leaves the constructor. Later, on a thread of the client's, of loss callbacks
  /// and observers that throw, and once of a node that does not tell of deleted locks. Unset: nobody is told.
  std::function<void(std::string_view warning)> on_warning = nullptr;

  /// Told what is worth counting: see `Observer`, and `Prometheus`, which is one. Unset: nothing is noted, and nothing costs
  /// anything.
  std::shared_ptr<Observer> observer = nullptr;
};

/// Per lock. Checked at each call; what is out of range throws `Error` with `Errc::misconfigured`.
struct LockOptions {
  /// How long the lock lives on the servers unless it is extended or released. 10 ms to `Options::max_ttl` (to 365 days
  /// without the restart guard), sent in whole milliseconds, rounded up. The longer, the longer others wait after a crash;
  /// the shorter, the sooner a pause of the process costs the lock.
  Duration ttl = std::chrono::seconds{30};

  /// Whether the lease gets a fencing token. Costs no round trip while the nodes' counters agree, as they do as a rule,
  /// and one more to some of the nodes when they do not. Without, the lock is taken by `SET NX PX`, in a script that looks
  /// at the node's marker where restarts are guarded.
  bool fencing = true;

  /// Whether the lease extends itself, every third of its ttl, until it is released or lost, or `max_hold` is over. Without
  /// an answer of a majority it tries again, until the deadline. Unset: a `Mutex` does, as its guards cannot hear of a
  /// loss, and a lock call does not. A process that forgets a lease without destroying it keeps the lock.
  std::optional<bool> auto_renew = std::nullopt;

  /// The deadline is never later than so long after the attempt began, however often the lease is extended. At least
  /// the ttl. Unset: no limit.
  std::optional<Duration> max_hold = std::nullopt;

  /// Called when the lease is lost, once, on a thread of the client's: at the deadline at the latest, and at once when a
  /// majority of the nodes tells that our value is gone (`Lease::stop_token()` says how they come to tell). Not called once
  /// a release has returned; a release on another thread waits for it. What it throws is told to `Options::on_warning`. One
  /// that blocks delays no other lease's, unless 16 of one client block at a time.
  std::function<void(Loss)> on_lost = nullptr;
};

}  // namespace v1
}  // namespace redlock
