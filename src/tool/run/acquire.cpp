#include "tool/run/acquire.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "os/pause.hpp"
#include "redlock/core/base/time.hpp"
#include "tool/lock_state.hpp"

namespace redlock::tool {
namespace {

/// If a call took so long, it has waited for a holder.
constexpr std::chrono::seconds another_outage_after{10};
/// The time between two attempts while nodes do not vote yet.
constexpr std::chrono::milliseconds between_attempts{500};

std::string label_of(const std::vector<std::string>& command) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string& program = command.front();
  return std::string{host}
      .append(":" + std::to_string(::getpid()) + " " + program.substr(program.rfind('/') + 1))
      .substr(0, 200);
}

/// With a time limit it waits for nodes as well as for a holder.
bool may_go_on(const LockResult& result, bool has_limit) {
  return result.is_held() ||
         (has_limit && (result.code() == Errc::no_quorum || result.code() == Errc::too_slow));
}

/// Waits as `-n` and `-w` say, in pieces, between which it says who has the lock. The last piece is not shorter than the
/// others, because in a short one the nodes may have no time to answer.
LockResult wait_for_holder(Redlock& locks, const RunArguments& arguments, Progress& progress,
                           const std::stop_token& stop) {
  const LockOptions options{.ttl = arguments.ttl,
                            .auto_renew = true,
                            .label = arguments.label.value_or(label_of(arguments.command))};
  const Clock::time_point give_up_at =
      arguments.wait ? core::later(Clock::now(), *arguments.wait) : core::never;
  const auto wait = [&](Clock::duration piece) {
    const Clock::duration left = give_up_at - Clock::now();
    return locks.try_lock_for(arguments.resource, left < 2 * piece ? left : piece, options, stop);
  };
  const bool has_limit = arguments.wait && arguments.wait->count() > 0;
  LockResult result = has_limit ? wait(std::chrono::seconds{1}) : locks.try_lock(arguments.resource, options);
  while (may_go_on(result, has_limit) && (!arguments.wait || Clock::now() < give_up_at)) {
    if (result.is_held()) progress.held(result.holder());
    result = wait(progress.interval());
  }
  return result;
}

}  // namespace

LockResult acquire(Redlock& locks, const RunArguments& arguments, Progress& progress,
                   const std::stop_token& stop) {
  const bool waits_for_nodes = !arguments.wait || arguments.wait->count() == 0;  // else the call has waited
  std::optional<Clock::time_point> give_up_at;
  for (;;) {
    const Clock::time_point begun = Clock::now();
    LockResult result = wait_for_holder(locks, arguments, progress, stop);
    if (result.code() != Errc::no_quorum || !waits_for_nodes || !majority_votes_in(result.nodes()))
      return result;
    const Clock::time_point now = Clock::now();
    // After a wait for the holder, this is another outage than the one before.
    if (!give_up_at || now - begun >= another_outage_after) {
      give_up_at = core::later(now, arguments.node_wait);
      if (now < *give_up_at) progress.nodes_awaited(result.nodes());
    }
    if (now >= *give_up_at) return result;
    detail::pause_until(std::min(*give_up_at, now + between_attempts), stop);
    if (stop.stop_requested()) return LockResult{Errc::cancelled, "stop was requested"};
  }
}

}  // namespace redlock::tool
