// Decides when enough nodes are ready for an operation to start.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "redlock/core/base/time.hpp"
#include "redlock/core/node/session.hpp"
#include "redlock/core/restart_guard/restart_guard.hpp"

namespace redlock::inline v1::core {

/// Which nodes one operation could use now, and since when.
///
/// An operation that is submitted while connections are being made for the first time waits until enough of them are
/// ready, and then as long again, so that slightly slower nodes are not left out. It waits at most for the connect
/// timeout. An operation that needs grants waits in the same way for the restart guard to admit nodes; on new nodes,
/// up to two seconds longer.
class Readiness {
 public:
  /// `guard`: null if the operation does not need admitted nodes. `ttl`: of the grants that it needs.
  Readiness(const std::vector<Session>& sessions, const RestartGuard* guard,
            std::chrono::milliseconds ttl) noexcept
      : sessions_{sessions}, guard_{guard}, ttl_{ttl} {}

  /// When an operation that wants `wanted` connections may start. It may start at once if the result is not after
  /// `now`.
  [[nodiscard]] Time start_time(std::size_t wanted, Time submitted_at, Span connect_timeout, Time now) const {
    if (wanted == 0) return now;
    std::size_t expected = 0;
    for (NodeIndex node = 0; node < sessions_.size(); ++node) expected += is_expected(node) ? 1 : 0;
    if (expected == 0) return now;
    std::vector<Time> ready;
    for (NodeIndex node = 0; node < sessions_.size(); ++node)
      if (const Time since = usable_since(node); since != never)
        ready.push_back(std::max(since, submitted_at));
    if (ready.size() + expected < wanted) return now;
    const Time latest =
        std::max(later(submitted_at, connect_timeout), guard_ ? guard_->decided_by() : Time::min());
    if (ready.size() < wanted) return latest;
    const auto enough = ready.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
    std::nth_element(ready.begin(), enough, ready.end());
    return std::min(latest, later(submitted_at, 2 * (*enough - submitted_at)));
  }

 private:
  /// Since when the node can be used; `never` if it cannot.
  [[nodiscard]] Time usable_since(NodeIndex node) const noexcept {
    const Session& session = sessions_[node];
    if (!session.ready()) return never;
    if (!guard_) return session.ready_at();
    return guard_->admits(node, ttl_) ? std::max(session.ready_at(), guard_->admitted_at(node)) : never;
  }
  /// The node may become usable soon.
  [[nodiscard]] bool is_expected(NodeIndex node) const noexcept {
    const Session& session = sessions_[node];
    return session.worth_waiting_for() || (session.ready() && guard_ && guard_->is_deciding(node, ttl_));
  }

  const std::vector<Session>& sessions_;
  const RestartGuard* const guard_;
  const std::chrono::milliseconds ttl_;
};

}  // namespace redlock::inline v1::core
