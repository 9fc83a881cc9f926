#include "tool/run/acquire.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

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

/// Whether one call waits for the holder and for nodes, up to a time.
bool has_limit(const RunArguments& arguments) { return arguments.wait && arguments.wait->count() > 0; }

LockOptions options_of(const RunArguments& arguments) {
  return {
      .ttl = arguments.ttl,
      .lock_delay = arguments.lock_delay,
      .at_least = arguments.at_least,
      .seats = arguments.seats,
      .shared = arguments.is_shared,
      .order = arguments.order,
      // Without a limit, and with -n, `acquire_by` waits for nodes between the calls.
      .node_wait = has_limit(arguments) ? arguments.node_wait : std::nullopt,
      .label = arguments.label.empty() ? detail::process_label(arguments.command.front()) : arguments.label};
}

/// The calls for the lock of one resource.
struct One {
  Redlock& locks;
  const std::string& resource;
  LockOptions options;

  LockResult try_once() { return locks.try_lock(resource, options); }
  LockResult try_for(Duration wait, const std::stop_token& stop) {
    return locks.try_lock_for(resource, wait, options, stop);
  }
  LockResult wait(const std::stop_token& stop) { return locks.lock(resource, options, stop); }
};

/// The calls of a candidate, who has no time limit.
struct Candidacy {
  Election& election;

  LockResult try_once() { return election.try_campaign(); }
  LockResult wait(const std::stop_token& stop) { return election.campaign(stop); }
};

/// The calls for the locks of several.
struct Several {
  Redlock& locks;
  std::vector<std::string_view> resources;
  LockOptions options;

  LockAllResult try_once() { return locks.try_lock_all(resources, options); }
  LockAllResult try_for(Duration wait, const std::stop_token& stop) {
    return locks.try_lock_all_for(resources, wait, options, stop);
  }
  LockAllResult wait(const std::stop_token& stop) { return locks.lock_all(resources, options, stop); }
};

/// Waits only for a holder to release the lock, unless there is a time limit. One call waits all the time, because each
/// call begins at the end of the line.
template <class Calls>
auto wait_for_holder(Calls& calls, const RunArguments& arguments, Progress& progress,
                     const std::stop_token& stop) {
  if constexpr (requires(Duration limit) { calls.try_for(limit, stop); })
    if (arguments.wait) return calls.try_for(*arguments.wait, stop);
  auto result = calls.try_once();
  while (result.is_held()) {
    std::stop_source wait;
    const std::stop_callback stop_wait{stop, [&wait] { wait.request_stop(); }};
    progress.end_without_quorum(wait, patience_without_quorum);
    result = calls.wait(wait.get_token());
    if (result.code() == Errc::cancelled && !stop.stop_requested()) result = calls.try_once();
  }
  return result;
}

/// While it exists, the progress can ask who has the lock.
class Asking {
 public:
  Asking(Redlock& locks, Progress& progress) : progress_{progress} {
    progress_.ask_by([&locks](const std::string& resource) {
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

/// Also waits for nodes.
template <class Calls>
auto acquire_by(Calls calls, const RunArguments& arguments, Progress& progress, const std::stop_token& stop) {
  std::optional<Clock::time_point> give_up_at;
  for (;;) {
    const Clock::time_point begun = Clock::now();
    auto result = wait_for_holder(calls, arguments, progress, stop);
    if (result.code() != Errc::no_quorum || has_limit(arguments) || !majority_votes_in(result.nodes()))
      return result;
    const Clock::time_point now = Clock::now();
    // After a wait for the holder, this is another outage than the one before.
    if (!give_up_at || now - begun >= patience_without_quorum) {
      give_up_at = core::later(now, arguments.node_wait.value_or(Clock::duration::max()));
      if (now < *give_up_at) progress.nodes_awaited(result.nodes());
    }
    if (now >= *give_up_at) return result;
    detail::pause_until(std::min(*give_up_at, now + between_attempts), stop);
    if (stop.stop_requested()) return decltype(result){Errc::cancelled, "stop was requested"};
  }
}

Leases together(LockAllResult&& result) { return std::move(result).value(); }
Leases together(LockResult&& result) {
  std::vector<Lease> one;
  one.push_back(std::move(result).value());
  return Leases{std::move(one)};
}

}  // namespace

Leases acquire(Redlock& locks, const RunArguments& arguments, std::function<void(std::string_view)> on_revoke,
               Progress& progress, const std::stop_token& stop) {
  std::optional<Asking> asking;
  if (!arguments.seats) asking.emplace(locks, progress);  // the lock with the semaphore's name is another one
  const auto take = [&](auto calls) {
    auto result = acquire_by(std::move(calls), arguments, progress, stop);
    const bool is_stopped = result.code() == Errc::cancelled && stop.stop_requested();
    return result.is_held() || is_stopped ? Leases{} : together(std::move(result));
  };
  LockOptions options = options_of(arguments);
  options.on_revoke = std::move(on_revoke);
  const std::vector<std::string>& resources = arguments.resources;
  if (arguments.is_election) {
    Election election{locks, resources.front(), options.label, options};
    return take(Candidacy{election});
  }
  if (resources.size() == 1) return take(One{locks, resources.front(), options});
  return take(Several{locks, {resources.begin(), resources.end()}, options});
}

}  // namespace redlock::tool
