// The lock calls that `Redlock` and `SingleNodeLock` share.
#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "redlock/duration.hpp"
#include "redlock/error.hpp"
#include "redlock/export.hpp"
#include "redlock/fencing/sequencer.hpp"
#include "redlock/fencing_token.hpp"
#include "redlock/kinds/leases.hpp"
#include "redlock/lease.hpp"
#include "redlock/lock_result.hpp"
#include "redlock/options.hpp"
#include "redlock/status.hpp"

namespace redlock {
inline namespace v1 {

/// The common interface of `Redlock` and `SingleNodeLock`. Create one of those.
///
/// Resources: a *resource* is a string of any bytes, 1 to 4096 of them, that does not start with `redlock:`.
///
/// Attempts: an *attempt* tries once, on all nodes, to set the resource's key to a fresh random string, the
/// *owner value*. A key that has been set on one node is a *copy* of the lock. When an attempt fails,
/// releases for its copies have been queued for every node before the call returns. A copy remains only on
/// nodes whose connection broke; it expires there after at most the ttl.
///
/// Locks are not reentrant: while a lease is valid, any further call for the same resource finds the lock held,
/// even on the same thread. In this documentation, *somebody else* is the holder of any other lease.
///
/// Errors: the calls for a lock return a `LockResult`: a lease, or the outcome with a report for each node.
/// `LockResult::value` throws the outcome as `Error`. The calls themselves throw only if memory runs out (what they have
/// taken until then may stay on the nodes for its ttl), and an `Error` for a duration that is not a number. If the lease must
/// renew itself or report its loss, and the system cannot provide the thread or timer for that, the call releases the lock
/// again and the result has the system's error.
///
/// Threads: any thread may make any call at any time on the same object. Moving and destroying the object
/// must be synchronized by the caller, as with any object. A moved-from object can only be assigned to or
/// destroyed.
///
/// Connections: one client per process is enough. All its threads and locks share its connections: one to each node, and a
/// second one to each node once a lease is watched, a call waits in line or an election is observed. The first call that needs
/// a connection opens it. The client's own threads resolve names and run loss callbacks and the observer. While no call is
/// waiting, they also renew leases, reconnect, mark nodes that restart while a lease is in force, and send what remains of the
/// releases. These threads block all signals except those of a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS,
/// SIGABRT) and SIGPROF. A process that a callback starts inherits that: reset its signal mask, for example with
/// posix_spawnattr_setsigmask.
///
/// Signals and cancellation: a signal does not end a call; a stop request does. A thread inside a call must not be
/// cancelled with `pthread_cancel`, which can end the process: use a stop token.
///
/// fork(): a child process must not use a client that was created before the fork. Such calls fail with
/// `invalid_argument`.
///
/// Destruction releases no lock: leases stay valid and keep the connections alive. Destroying the last of the
/// client and its leases sends the requests that are still queued, also on connections that replace lost ones, and leaves the
/// lines in which calls waited. That blocks for at most 250 ms. It also blocks while a loss callback runs on another
/// thread, and until the observer has received its events. Inside a callback it waits for neither: callbacks that have begun then
/// finish on their own, and the observer receives the remaining events later. Use `shut_down` to make the
/// holders stop.
class REDLOCK_EXPORT LockClient {
 public:
  LockClient(LockClient&&) noexcept;
  LockClient& operator=(LockClient&&) noexcept;
  LockClient(const LockClient&) = delete;
  LockClient& operator=(const LockClient&) = delete;

  /// Makes one attempt, or several within `LockOptions::node_wait`. The outcome is `held` if the lock cannot be had although
  /// nothing is wrong: somebody else has it or stands in line for it, or `LockOptions::at_least` keeps it. Blocks until a
  /// majority has decided, for at most the node timeout; for at most twice that if a second round has to confirm the fencing
  /// token; for at most two more node timeouts if a node whose counter is too far ahead is left out. A first call also waits
  /// for connections, for at most the connect timeout, and on new nodes until they are marked, for up to two seconds more.
  /// During `node_wait` only `shut_down` ends the call.
  LockResult try_lock(std::string_view resource, const LockOptions& options = {});

  /// Waits until the lock is acquired or `wait` is over: in line with the other calls that wait for it, or, with `Order::none`,
  /// by attempts with random pauses between them. While too few nodes vote, it makes attempts with such pauses as well. The
  /// outcome is `timed_out` if the lock is still held when the time is over, as `try_lock` understands it, and `no_quorum` if
  /// too few nodes vote then or when `LockOptions::node_wait` is over. So a `wait` that is shorter than a round trip ends with
  /// `no_quorum`, whose reports say that nodes were not awaited. If a majority of the nodes is misconfigured, the call
  /// fails at once. With a `wait` of zero or less it makes one full attempt, as `try_lock` does, and waits for no node. A stop
  /// request ends the call at once with `cancelled`.
  LockResult try_lock_for(std::string_view resource, Duration wait, const LockOptions& options = {},
                          std::stop_token stop = {});

  /// As `try_lock_for`, until a time point of any clock. The clock is read once: setting it afterwards changes nothing.
  template <class AnyClock, class AnyDuration>
  LockResult try_lock_until(std::string_view resource,
                            const std::chrono::time_point<AnyClock, AnyDuration>& deadline,
                            const LockOptions& options = {}, std::stop_token stop = {}) {
    const Duration wait = detail::time_left(deadline.time_since_epoch(), AnyClock::now().time_since_epoch());
    return try_lock_for(resource, wait, options, std::move(stop));
  }

  /// As `try_lock_for`, without a time limit: the outcome is the lock, or `cancelled`, `misconfigured`, `invalid_argument` or,
  /// after `LockOptions::node_wait`, `no_quorum`. Keeps trying even while too few nodes are reachable.
  LockResult lock(std::string_view resource, const LockOptions& options = {}, std::stop_token stop = {});

  /// Acquires the locks of all these resources, or none of them: 1 to 64 different ones, in any order. As `try_lock` otherwise,
  /// with the same options for each lock; `LockOptions::seats` is refused. All nodes get the commands for all locks at once, so without contention it takes as
  /// many round trips as one lock. If one lock cannot be had, those that were granted are given back.
  LockAllResult try_lock_all(std::span<const std::string_view> resources, const LockOptions& options = {});
  LockAllResult try_lock_all(std::initializer_list<std::string_view> resources,
                             const LockOptions& options = {}) {
    return try_lock_all(std::span{resources.begin(), resources.size()}, options);
  }

  /// As `try_lock_all`, but waits as `try_lock_for` does. While it waits, it has none of the locks. It stands in the lines of all
  /// of them, one after the other in the order of their keys, and keeps its places, so that calls for several locks neither
  /// starve nor wait for each other.
  LockAllResult try_lock_all_for(std::span<const std::string_view> resources, Duration wait,
                                 const LockOptions& options = {}, std::stop_token stop = {});
  LockAllResult try_lock_all_for(std::initializer_list<std::string_view> resources, Duration wait,
                                 const LockOptions& options = {}, std::stop_token stop = {}) {
    return try_lock_all_for(std::span{resources.begin(), resources.size()}, wait, options, std::move(stop));
  }

  /// As `try_lock_all_for`, without a time limit, as `lock` is.
  LockAllResult lock_all(std::span<const std::string_view> resources, const LockOptions& options = {},
                         std::stop_token stop = {});
  LockAllResult lock_all(std::initializer_list<std::string_view> resources, const LockOptions& options = {},
                         std::stop_token stop = {}) {
    return lock_all(std::span{resources.begin(), resources.size()}, options, std::move(stop));
  }

  /// Takes over a lock whose holder gave it up with `Lease::orphan`, which returns the handover, or died; then the resource and
  /// the owner value are enough (`inspect` shows it), with its token if it has one. Makes one attempt and blocks as `try_lock`
  /// does.
  ///
  /// On success the owner value has been replaced by a fresh one on a majority of the nodes, and the lease is
  /// valid for a full ttl. The lock is never free in between. Of two clients that adopt the same lock, at
  /// most one succeeds; if neither does, both may try again.
  ///
  /// The outcome is `lost` if the lock is gone: a majority of the nodes holds no value, or the same other
  /// owner value. After any other failure the lock lives for at least another ttl, and on nodes whose
  /// connection broke the adopter's value remains until it expires.
  ///
  /// If the handover has a token, `LockOptions::fencing` must be true. As with any other acquisition, the lease gets a
  /// new and greater token. It fences off the previous holder if that one is still active after all. Such a
  /// holder's loss is reported (`Loss::taken`) by its next extension, or at once if its lease is watched by
  /// another client than this one.
  LockResult adopt(const Handover& handover, const LockOptions& options = {});

  /// Turns an exclusive lease of this client into a shared one: the writer becomes a reader, and no other writer has the lock in
  /// between. Makes one attempt with these options, whose `shared` is set whatever it was, and blocks as `try_lock` does, and
  /// then until a majority knows that the exclusive lease is over.
  ///
  /// The exclusive lease ends when the call begins, whatever comes of it: it is *released*. The shared lease is valid for a full
  /// ttl and has a greater token. On failure, neither holds the lock any more. The outcome is `lost` if the exclusive lease was
  /// over or a majority of the nodes does not have it any more; other outcomes are those of `try_lock`. Bad arguments
  /// (invalid_argument) change nothing: a lease that is empty, shared or of another client, or whose `at_least` is not over.
  LockResult downgrade(Lease&& lease, const LockOptions& options = {});

  /// Asks every node who holds the resource and for how long. Changes nothing. In the reports, a node that
  /// voted is `held` or `free`. Blocks until all nodes have answered: for at most the node timeout (250 ms by
  /// default), plus the connect timeout while connections are being made. Throws only for bad arguments; a
  /// node's failure is in its report. The answer is out of date by the time it arrives, so do not base
  /// decisions on it.
  std::vector<NodeReport> inspect(std::string_view resource);
  /// As above, but returns an empty vector and sets `ec` on failure.
  std::vector<NodeReport> inspect(std::string_view resource, std::error_code& ec);

  /// Asks the holder of the resource to give it up, by its `LockOptions::on_revoke`: for example a job of low priority, so that
  /// another one need not wait until it ends. The lock does not change: the holder goes on as long as it likes, and is not told if
  /// it has no such callback, which this call cannot find out. Whoever wants the lock next calls `lock` and waits.
  ///
  /// In the reports, a node that voted is `held` or `free`. Where it is `held`, its holder was asked, with two exceptions: nobody
  /// holds a lock that is kept (`Holder::is_kept`), and no request is left for a key that never expires (no `ttl`), which no lock
  /// of this library is. One node that both clients reach is enough, and a holder that gives the lock up at once may have done so
  /// before the other nodes are asked: so the holder in any report was asked.
  ///
  /// A request is for the holder of this moment: no later one is told, and it is gone when the lock is. A seat of a semaphore is
  /// asked for by its own name, such as `gpu#2`. `why`: for the holder, 1 to 200 bytes. Leaves the key `redlock:a:{RESOURCE}:…` on
  /// the nodes until the lock has ended. Blocks and throws as `inspect` does.
  std::vector<NodeReport> revoke(std::string_view resource, std::string_view why = "revoked");
  /// As above, but returns an empty vector and sets `ec` on failure.
  std::vector<NodeReport> revoke(std::string_view resource, std::string_view why, std::error_code& ec);

  /// Takes the lock from a holder who does not give it up, for example one that hangs: deletes its copies on all nodes. Somebody
  /// else who has the lock meanwhile keeps it. `owner_value`: in full, as `inspect` shows it. If readers share the lock
  /// (`Holder::is_shared`), it is that of a reader, which `readers_in` returns. Neither `LockOptions::at_least` nor `lock_delay`
  /// of the former holder delays the next one. Throws `invalid_argument` for the value of a lock that readers share or that
  /// `at_least` keeps (`Holder::is_kept`): nobody owns such a value.
  ///
  /// The former holder is told of a loss (`Loss::deleted`, or `taken` if somebody else has the lock by then): at once if its lease
  /// is watched, otherwise by its next extension or at its deadline. **Until it has stopped, two may work on the resource.** The
  /// next holder has a greater fencing token, so a resource that compares tokens refuses the former one.
  ///
  /// In the reports, a node that voted is `held` if it had a copy, which is deleted now, and `free` if it had none. If a majority
  /// voted, this holder has lost the lock or had none. On a node that did not vote the copy may stay until it expires, and what
  /// the holder has sent before may arrive later; it counts no more. Blocks and throws as `inspect` does. Reported to the
  /// observer as *broken* if a node has deleted a copy.
  std::vector<NodeReport> break_lock(std::string_view resource, std::string_view owner_value) {
    return break_lock(resource, std::span{&owner_value, 1});
  }
  /// As above, for several readers at once: 1 to 100 of them, as many as `inspect` names.
  std::vector<NodeReport> break_lock(std::string_view resource,
                                     std::span<const std::string_view> owner_values);
  std::vector<NodeReport> break_lock(std::string_view resource,
                                     std::initializer_list<std::string_view> owner_values) {
    return break_lock(resource, std::span{owner_values.begin(), owner_values.size()});
  }
  /// As the first one, but returns an empty vector and sets `ec` on failure.
  std::vector<NodeReport> break_lock(std::string_view resource, std::string_view owner_value,
                                     std::error_code& ec);

  /// Asks the nodes whether the lease that this sequencer names is still held (docs/sequencers.md); this client needs the same
  /// nodes and key prefix as the holder. Changes nothing. *Valid* takes a majority that shows the holder's owner value, so a
  /// minority of the nodes cannot make it. *Unknown* if there is no majority either way: too few nodes answer, or the lock is
  /// changing hands. The token is not compared with anything.
  ///
  /// The answer is a snapshot: it may be out of date by the time it arrives, so it guards nothing. Compare the token at the
  /// resource for that. Blocks until a majority has shown the owner value, otherwise until all nodes have answered: for at most
  /// the node timeout (250 ms by default), plus the connect timeout while connections are being made. Throws only for bad arguments and in a child of fork() (invalid_argument).
  [[nodiscard]] SequencerState check(const Sequencer& sequencer);
  /// As above, but returns *unknown* and sets `ec` on failure.
  SequencerState check(const Sequencer& sequencer, std::error_code& ec);
  /// As the first one. Sets `nodes` to what each node has answered: `held` by whom, `free`, or why it does not count. For the
  /// lease of a reader, *free* means that the node does not show that reader.
  SequencerState check(const Sequencer& sequencer, std::vector<NodeReport>& nodes);

  /// Call this before the program ends. All leases of this client are lost (`Loss::shut_down`) and no longer
  /// renewed; the losses are reported as usual. Calls that wait for a lock, and all later calls for a lock,
  /// fail with `cancelled`.
  ///
  /// Does not block and releases nothing, because the holders have to stop their work first. A lock stays on
  /// the nodes until its lease is released or destroyed, or its ttl runs out. Repeated calls have no effect.
  /// Takes mutexes, so a call in a signal handler may block for ever. Block the signal in all threads instead, and
  /// let one of them wait for it with `sigwait` (docs/guide.md has an example).
  /// Throws `invalid_argument` in a child of `fork()`; otherwise throws only if memory runs out.
  void shut_down();

 protected:
  REDLOCK_INTERNAL explicit LockClient(std::shared_ptr<detail::Client>) noexcept;
  ~LockClient();
  [[nodiscard]] detail::Client& client() const noexcept { return *client_; }

 private:
  friend class Mutex;  // these share the client
  friend class Semaphore;
  friend class SharedMutex;
  friend class Election;

  // As `lock` and `try_lock`; the observer and the owner value say that the lock is that of an election.
  REDLOCK_INTERNAL LockResult campaign(std::string_view name, const LockOptions&, const std::stop_token&);
  REDLOCK_INTERNAL LockResult try_campaign(std::string_view name, const LockOptions&);

  std::shared_ptr<detail::Client> client_;
};

}  // namespace v1
}  // namespace redlock
