#include "tool/run/acquire.hpp"

#include <algorithm>
#include <chrono>

#include "os/pause.hpp"
#include "os/process_label.hpp"
#include "redlock/core/base/time.hpp"
#include "tool/lock_state.hpp"

namespace redlock::tool {
namespace {

/// Without a time limit, the wait is cut into pieces of this length: each one fails if there is no quorum.
constexpr std::chrono::seconds one_wait{10};
/// The time between two attempts while nodes do not vote yet.
constexpr std::chrono::milliseconds between_attempts{500};

/// Waits only for a holder to release the lock, unless there is a time limit.
LockResult wait_for_holder(Redlock& locks, const RunArguments& arguments, const std::stop_token& stop) {
  const LockOptions options{
      .ttl = arguments.ttl,
      .label = arguments.label.empty() ? detail::process_label(arguments.command.front()) : arguments.label};
  if (arguments.wait) return locks.try_lock_for(arguments.resource, *arguments.wait, options, stop);
  LockResult result = locks.try_lock(arguments.resource, options);
  while (result.is_held()) result = locks.try_lock_for(arguments.resource, one_wait, options, stop);
  return result;
}

}  // namespace

LockResult acquire(Redlock& locks, const RunArguments& arguments, Progress& progress,
                   const std::stop_token& stop) {
  const bool waits_for_nodes = !arguments.wait || arguments.wait->count() == 0;  // else the call has waited
  std::optional<Clock::time_point> give_up_at;
  for (;;) {
    const Clock::time_point begun = Clock::now();
    LockResult result = wait_for_holder(locks, arguments, stop);
    if (result.code() != Errc::no_quorum || !waits_for_nodes || !majority_votes_in(result.nodes()))
      return result;
    const Clock::time_point now = Clock::now();
    // After a wait for the holder, this is another outage than the one before.
    if (!give_up_at || now - begun >= one_wait) {
      give_up_at = core::later(now, arguments.node_wait);
      if (now < *give_up_at) progress.nodes_awaited(result.nodes());
    }
    if (now >= *give_up_at) return result;
    detail::pause_until(std::min(*give_up_at, now + between_attempts), stop);
    if (stop.stop_requested()) return LockResult{Errc::cancelled, "stop was requested"};
  }
}

}  // namespace redlock::tool
