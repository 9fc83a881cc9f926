#include "tool/run/acquire.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>

#include "os/pause.hpp"
#include "os/process_label.hpp"
#include "redlock/core/base/time.hpp"
#include "tool/lock_state.hpp"

namespace redlock::tool {
namespace {

/// Without a time limit, the wait ends when attempts have found no quorum for this long.
constexpr std::chrono::seconds patience_without_quorum{10};
/// The time between two attempts while nodes do not vote yet.
constexpr std::chrono::milliseconds between_attempts{500};

LockOptions options_of(const RunArguments& arguments) {
  return {
      .ttl = arguments.ttl,
      .lock_delay = arguments.lock_delay,
      .at_least = arguments.at_least,
      .seats = arguments.seats,
      .order = arguments.order,
      .label = arguments.label.empty() ? detail::process_label(arguments.command.front()) : arguments.label};
}

/// Waits only for a holder to release the lock, unless there is a time limit. One call waits all the time, because each
/// call begins at the end of the line.
LockResult wait_for_holder(Redlock& locks, const RunArguments& arguments, Progress& progress,
                           const std::stop_token& stop) {
  const LockOptions options = options_of(arguments);
  if (arguments.wait) return locks.try_lock_for(arguments.resource, *arguments.wait, options, stop);
  LockResult result = locks.try_lock(arguments.resource, options);
  while (result.is_held()) {
    std::stop_source wait;
    const std::stop_callback stop_wait{stop, [&wait] { wait.request_stop(); }};
    progress.end_without_quorum(wait, patience_without_quorum);
    result = locks.lock(arguments.resource, options, wait.get_token());
    if (result.code() == Errc::cancelled && !stop.stop_requested())
      result = locks.try_lock(arguments.resource, options);
  }
  return result;
}

/// While it exists, the progress can ask who has the lock.
class Asking {
 public:
  Asking(Redlock& locks, const std::string& resource, Progress& progress) : progress_{progress} {
    progress_.ask_by([&locks, &resource] {
      std::error_code ignored;
      return holder_of(locks.inspect(resource, ignored));
    });
  }
  ~Asking() { progress_.ask_by(nullptr); }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  Progress& progress_;
};

}  // namespace

LockResult acquire(Redlock& locks, const RunArguments& arguments, Progress& progress,
                   const std::stop_token& stop) {
  const Asking asking{locks, arguments.resource, progress};
  const bool waits_for_nodes = !arguments.wait || arguments.wait->count() == 0;  // else the call has waited
  std::optional<Clock::time_point> give_up_at;
  for (;;) {
    const Clock::time_point begun = Clock::now();
    LockResult result = wait_for_holder(locks, arguments, progress, stop);
    if (result.code() != Errc::no_quorum || !waits_for_nodes || !majority_votes_in(result.nodes()))
      return result;
    const Clock::time_point now = Clock::now();
    // After a wait for the holder, this is another outage than the one before.
    if (!give_up_at || now - begun >= patience_without_quorum) {
      give_up_at = core::later(now, arguments.node_wait);
      if (now < *give_up_at) progress.nodes_awaited(result.nodes());
    }
    if (now >= *give_up_at) return result;
    detail::pause_until(std::min(*give_up_at, now + between_attempts), stop);
    if (stop.stop_requested()) return LockResult{Errc::cancelled, "stop was requested"};
  }
}

}  // namespace redlock::tool
