// Distributed locks on Redis: include this header for all of the library but the headers in testing/.
#pragma once

#include <chrono>
#include <concepts>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "redlock/clock.hpp"
#include "redlock/duration.hpp"
#include "redlock/endpoint.hpp"
#include "redlock/error.hpp"
#include "redlock/fencing/fenced_value.hpp"
#include "redlock/fencing/high_water_mark.hpp"
#include "redlock/fencing/sequencer.hpp"
#include "redlock/fencing_token.hpp"
#include "redlock/kinds/election.hpp"
#include "redlock/kinds/leases.hpp"
#include "redlock/kinds/recursive_mutex.hpp"
#include "redlock/kinds/semaphore.hpp"
#include "redlock/kinds/shared_mutex.hpp"
#include "redlock/lease.hpp"
#include "redlock/lock_client.hpp"
#include "redlock/lock_result.hpp"
#include "redlock/metrics/observer.hpp"
#include "redlock/metrics/prometheus.hpp"
#include "redlock/mutex.hpp"
#include "redlock/node_report.hpp"
#include "redlock/options.hpp"
#include "redlock/status.hpp"
#include "redlock/version.hpp"

namespace redlock {
inline namespace v1 {

namespace detail {

template <class Range>
concept EndpointRange =
    std::ranges::input_range<Range> && std::convertible_to<std::ranges::range_reference_t<Range>, Endpoint> &&
    !std::same_as<std::remove_cvref_t<Range>, std::vector<Endpoint>>;

template <class Nodes>
[[nodiscard]] std::vector<Endpoint> endpoints_of(Nodes&& nodes) {
  std::vector<Endpoint> endpoints;
  for (auto&& node : nodes) try {
      endpoints.push_back(node);
    } catch (const Error& error) {
      refuse_entry(endpoints.size() + 1, error);
    }
  return endpoints;
}

}  // namespace detail

/// Locks on a majority of N independent Redis masters, by the Redlock algorithm
/// (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/). All nodes are asked in parallel.
///
/// Guarantees one holder at a time, as long as clock rates differ by no more than the drift allowance, no
/// holder pauses beyond its deadline in the middle of its work, and no node that granted a lock forgets it
/// within the ttl; see docs/safety.md. Any minority of the nodes may be down or hang. `LockClient` describes
/// the calls.
class REDLOCK_EXPORT Redlock : public LockClient {
 public:
  /// Checks its arguments and reads the files of `Options::tls`; contacts no node and starts no thread. The nodes must be
  /// independent masters, not replicas of each other. Use 3, 5 or 7 nodes; 1 to 31 are allowed. Each address must be given
  /// only once. Throws `Error` (invalid_argument), or `std::system_error` if the system cannot provide a descriptor or
  /// random numbers.
  explicit Redlock(std::vector<Endpoint> nodes, Options options = {});
  /// As above, for any range of endpoints or of their texts. An error says which entry it is.
  template <detail::EndpointRange Nodes>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): a client is no range
  explicit Redlock(Nodes&& nodes, Options options = {})
      : Redlock{detail::endpoints_of(std::forward<Nodes>(nodes)), std::move(options)} {}

  /// Returns a client for the nodes that the environment names: see `Configuration::from_environment`. Throws as that
  /// does and as the constructor does; the error says how to name nodes if there are none.
  [[nodiscard]] static Redlock from_environment(Options options = {});

  /// Allows locks with a ttl of up to `max_ttl` (10 ms to 365 days) on these nodes, for all clients with this key
  /// prefix; they need not be restarted. Nodes that lose their data then wait that long. Returns the `max_ttl` of
  /// the nodes, which is greater if they already had a greater one: it is never lowered.
  ///
  /// All nodes must be reachable and have their markers, which the first lock writes; otherwise throws
  /// `no_quorum` or `misconfigured`, with a report for each node that is not well. Throws `invalid_argument` for a value out
  /// of range, without the restart guard, and in a child of fork(). Some nodes may then wait longer
  /// than necessary after a loss of data; call it again when all nodes are well. Blocks for two seconds and some
  /// round trips, because clients that are marking a node must have finished first (docs/safety.md). Raise
  /// `Options::max_ttl` of the clients before, for the case that a majority of the nodes loses its data while
  /// the others are away.
  std::chrono::nanoseconds raise_max_ttl(Duration max_ttl);
};

/// The same interface on a single Redis server. Use it for efficiency only: it avoids doing a job twice, and
/// guarantees nothing when that server fails or restarts. Use `Redlock` where two holders at once would be
/// wrong rather than wasteful.
class REDLOCK_EXPORT SingleNodeLock : public LockClient {
 public:
  /// Checks its arguments; does no I/O and starts no thread. Throws as the constructor of `Redlock` does.
  explicit SingleNodeLock(Endpoint node, Options options = {});
};

}  // namespace v1
}  // namespace redlock
