#include "tool/run/acquire.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <span>

#include "os/pause.hpp"
#include "redlock/core/base/time.hpp"
#include "tool/lock_state.hpp"

namespace redlock::tool {
namespace {

/// Without a time limit, the wait is cut into pieces of this length: each one fails if there is no quorum.
constexpr std::chrono::seconds one_wait{10};
/// The time between two attempts while nodes do not vote yet.
constexpr std::chrono::milliseconds between_attempts{500};

/// Waits only for a holder to release the lock, unless there is a time limit.
std::optional<Lease> wait_for_holder(Redlock& locks, const RunArguments& arguments,
                                     const std::stop_token& stop) try {
  const LockOptions options{.ttl = arguments.ttl, .auto_renew = true};
  if (arguments.wait) return locks.try_lock_for(arguments.resource, *arguments.wait, options, stop);
  std::optional<Lease> lease = locks.try_lock(arguments.resource, options);
  while (!lease) lease = locks.try_lock_for(arguments.resource, one_wait, options, stop);
  return lease;
} catch (const Error& error) {
  if (error.code() == Errc::cancelled) return std::nullopt;
  throw;
}

void print_waiting(std::span<const NodeReport> nodes) {
  std::cerr << "redlock: waiting for nodes that will vote again";
  for (const NodeReport& report : nodes)
    if (report.votes_in) std::cerr << "\n  " << report;
  std::cerr << '\n';
}

}  // namespace

std::optional<Lease> acquire(Redlock& locks, const RunArguments& arguments, const std::stop_token& stop) {
  std::optional<Clock::time_point> give_up_at;
  for (;;) {
    const Clock::time_point begun = Clock::now();
    try {
      return wait_for_holder(locks, arguments, stop);
    } catch (const Error& error) {
      const Clock::time_point now = Clock::now();
      const bool has_waited_for_nodes = arguments.wait && arguments.wait->count() > 0;
      if (error.code() != Errc::no_quorum || has_waited_for_nodes || !majority_votes_in(error.nodes())) throw;
      // After a wait for the holder, this is another outage than the one before.
      if (!give_up_at || now - begun >= one_wait) {
        give_up_at = core::later(now, arguments.node_wait);
        if (now < *give_up_at) print_waiting(error.nodes());
      }
      if (now >= *give_up_at) throw;
    }
    detail::pause_until(std::min(*give_up_at, Clock::now() + between_attempts), stop);
    if (stop.stop_requested()) return std::nullopt;
  }
}

}  // namespace redlock::tool
