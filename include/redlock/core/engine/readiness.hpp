// When there are connections enough for an operation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "redlock/core/base/time.hpp"
#include "redlock/core/node/session.hpp"
#include "redlock/core/restart_guard/restart_guard.hpp"

namespace redlock::inline v1::core {

/// Which nodes one operation could use now, and since when.
///
/// One that comes while connections are being made for the first time waits until enough of them are ready, and then as
/// long again as that took, so that the slower ones are not left out by a hair; at most the connect timeout. One that
/// wants grants waits likewise for the guard to admit nodes, on new ones half a second longer.
class Readiness {
 public:
  /// `guard`: null, where the operation needs no admission.
  Readiness(const std::vector<Session>& sessions, const RestartGuard* guard) noexcept
      : sessions_{sessions}, guard_{guard} {}

  /// Of an operation that wants so many connections. `now`, or earlier: it may start.
  [[nodiscard]] Time start_time(std::size_t wanted, Time submitted_at, Span connect_timeout, Time now) const {
    std::size_t hopeful = 0;
    for (NodeIndex node = 0; node < sessions_.size(); ++node) hopeful += is_hopeful(node) ? 1 : 0;
    if (wanted == 0 || hopeful == 0) return now;
    std::vector<Time> ready;
    for (NodeIndex node = 0; node < sessions_.size(); ++node)
      if (const Time since = usable_since(node); since != never)
        ready.push_back(std::max(since, submitted_at));
    if (ready.size() + hopeful < wanted) return now;
    const Time latest =
        std::max(later(submitted_at, connect_timeout), guard_ ? guard_->decided_by() : Time::min());
    if (ready.size() < wanted) return latest;
    const auto enough = ready.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
    std::nth_element(ready.begin(), enough, ready.end());
    return std::min(latest, later(submitted_at, 2 * (*enough - submitted_at)));
  }

 private:
  /// `never`: it is not.
  [[nodiscard]] Time usable_since(NodeIndex node) const noexcept {
    const Session& session = sessions_[node];
    if (!session.ready()) return never;
    if (!guard_) return session.ready_at();
    return guard_->admits(node) ? std::max(session.ready_at(), guard_->admitted_at(node)) : never;
  }
  [[nodiscard]] bool is_hopeful(NodeIndex node) const noexcept {
    const Session& session = sessions_[node];
    return session.hopeful() || (session.ready() && guard_ && guard_->is_deciding(node));
  }

  const std::vector<Session>& sessions_;
  const RestartGuard* const guard_;
};

}  // namespace redlock::inline v1::core
