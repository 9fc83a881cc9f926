// Distributed locks on Redis: include this header for all of the library.
#pragma once

#include <vector>

#include "redlock/clock.hpp"
#include "redlock/endpoint.hpp"
#include "redlock/error.hpp"
#include "redlock/fencing_token.hpp"
#include "redlock/lease.hpp"
#include "redlock/lock_client.hpp"
#include "redlock/mutex.hpp"
#include "redlock/node_report.hpp"
#include "redlock/options.hpp"

namespace redlock {
inline namespace v1 {

/// A lock on a majority of N independent Redis masters, by the Redlock algorithm
/// (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/), with all nodes asked at once.
///
/// Promises one holder at a time while clock rates and pauses stay within the drift allowance and no node
/// that granted forgets it within the ttl; see docs/safety.md. Any minority of the nodes may be dead or hang.
/// All its calls are those of `LockClient`.
class REDLOCK_EXPORT Redlock : public LockClient {
 public:
  /// Validates and returns: no I/O, no thread. The nodes must be independent masters, not replicas of each
  /// other; 3, 5 or 7 of them as a rule, 1 to 31 allowed, no address twice, no `rediss://`. Throws `Error`
  /// (misconfigured).
  explicit Redlock(std::vector<Endpoint> nodes, Options options = {});
};

/// The same surface on one Redis, for efficiency only: it saves doing a job twice, and promises nothing when
/// that server fails or restarts. Use `Redlock` where two holders at once would be wrong rather than
/// wasteful.
class REDLOCK_EXPORT SingleNodeLock : public LockClient {
 public:
  /// Validates and returns: no I/O, no thread. Throws `Error` (misconfigured).
  explicit SingleNodeLock(Endpoint node, Options options = {});
};

}  // namespace v1
}  // namespace redlock
