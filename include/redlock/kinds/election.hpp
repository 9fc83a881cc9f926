// Elections: one leader among candidates, and observers who learn of it.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "redlock/export.hpp"
#include "redlock/fencing_token.hpp"
#include "redlock/lock_client.hpp"
#include "redlock/lock_result.hpp"
#include "redlock/options.hpp"

namespace redlock {
inline namespace v1 {

/// Who leads, as a majority of the nodes shows it.
struct Leader {
  /// What the leader calls itself: `LockOptions::label` of the lock; the value of the key if another program has set it.
  /// Any program may write anything there: `operator<<` escapes it.
  std::string candidate;
  /// The fencing token of the leader's lease: the counter that a majority of the nodes shows beside the leader. None (0)
  /// if the lease has none, or while no majority shows the same counter. While the leader is just taking the lock, it may be
  /// a smaller one. It is what somebody else has read: the leader's own `Lease::fencing_token` is the one that fences
  /// (docs/elections.md).
  FencingToken token = {};

  friend bool operator==(const Leader&, const Leader&) = default;
};

/// Writes `web3, token 4711`.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream&, const Leader&);

/// Keeps a callback of `Election::observe` registered. Its destructor ends that: no call begins any more, and it blocks while
/// one runs on another thread, except inside a callback (see `Lease`). It keeps the client's connections alive. In a child
/// process of fork(), it only frees memory. Any thread may move or destroy it, one at a time.
class [[nodiscard]] REDLOCK_EXPORT Observation {
 public:
  Observation(Observation&&) noexcept;
  Observation& operator=(Observation&&) noexcept;
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;
  ~Observation();

 private:
  friend class Election;
  struct Parts;
  REDLOCK_INTERNAL explicit Observation(std::unique_ptr<Parts>) noexcept;

  std::unique_ptr<Parts> parts_;
};

/// An election among all candidates that use the same name on the same nodes. The leader is who holds the lock of that name:
/// `campaign` takes it, the lease renews itself, and releasing it resigns. So at most one candidate leads at any time, under
/// the assumptions of a lock (docs/safety.md); a leader that does not notice its loss in time must be fenced like any holder.
///
/// Threads: any thread may make any call at any time. The object shares the client's connections and keeps them alive: the
/// client object may be moved or destroyed.
class REDLOCK_EXPORT Election {
 public:
  /// `candidate`: how this candidate is shown to others, at most 200 bytes. Default: `host:pid program`. `options`: of the
  /// lock; its label is replaced by the candidate. Does no I/O. Throws `Error` (invalid_argument) if the options have seats or
  /// are shared. Other invalid arguments are reported by the first call.
  Election(LockClient& client, std::string_view name, std::string_view candidate = {},
           LockOptions options = {});
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;
  ~Election();

  /// Stands in line until this candidate leads, as `LockClient::lock` does: it blocks, even while too few nodes are
  /// reachable, until the outcome is the lease, or `cancelled`, `misconfigured` or `invalid_argument`. After a loss, campaign
  /// again. The lease is the leadership: `Lease::release` resigns, and `Lease::stop_token` tells of a loss.
  LockResult campaign(std::stop_token stop = {});
  /// As `campaign`, but makes one attempt, as `LockClient::try_lock` does: the outcome is `held` if somebody else leads, or
  /// if others stand in line.
  LockResult try_campaign();

  /// Asks all nodes who leads, and blocks as `LockClient::inspect` does. Returns none if nobody leads: no value is shown by a
  /// majority. Throws `Error`: no_quorum or misconfigured, with a report for each node, if too few nodes answer to decide it;
  /// invalid_argument in a child of fork(). The answer is out of date by the time it arrives.
  [[nodiscard]] std::optional<Leader> leader();

  /// Calls `callback` with the leader, or none, as soon as a majority of the nodes has shown who it is, and then each time
  /// that a majority shows another one: also if the same candidate leads anew, with a new lease. It may skip a leader
  /// who was there only briefly, but ends with the last one. Contradictory words of a minority are never reported, and
  /// nothing is while too few nodes answer. A resigned leader, and mostly at once the next one instead, is reported
  /// after a round trip and 7 ms, while a node hangs after 32 ms; one that died, when its ttl and its
  /// `lock_delay` are over.
  ///
  /// The callback runs on one of the client's threads, one call at a time, as `LockOptions::on_lost` does: under no mutex, so
  /// it may use the client, campaign and destroy the observation; while it blocks, newer leaders replace each other, and
  /// 16 callbacks of one client that block at the same time delay others. An exception is reported to `Options::on_warning`.
  ///
  /// Costs a second connection to each node (see `Lease::stop_token`), and three reads on each node whenever the lock is
  /// taken, renewed or released, at least every 5 s. A node that reports no changes is asked every quarter of a second.
  /// Returns at once. Throws `Error` (invalid_argument) for a bad name and in a child of fork(), and `std::system_error` if the
  /// system has no thread for it.
  Observation observe(std::function<void(const std::optional<Leader>&)> callback);

 private:
  LockClient client_;
  const std::string name_;
  const LockOptions options_;
};

}  // namespace v1
}  // namespace redlock
