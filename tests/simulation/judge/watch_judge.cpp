#include "simulation/judge/watch_judge.hpp"

#include <algorithm>
#include <cstddef>

#include "redlock/core/base/quorum.hpp"

namespace redlock::simulation {

void WatchJudge::told(int client, const core::Holding& seen, Instant now) {
  Watching& watching = watching_.at(client);
  if (watching.seen && watching.seen->owner && watching.seen->owner != seen.owner) {
    watching.left = watching.seen->owner;
    watching.left_at = now;
  }
  watching.seen = seen;
  if (seen.owner && copies_[*seen.owner].count() < core::quorum(static_cast<std::size_t>(schedule_.nodes)))
    report_(Rule::watch, now, "a client is told of a holder that no majority has had");
}

void WatchJudge::copied(std::string_view owner, int node) {
  if (schedule_.observer >= 0) copies_[std::string{owner}].set(static_cast<std::size_t>(node));
}

void WatchJudge::must_know(std::string_view owner, std::optional<std::uint64_t> token, Instant now) {
  const Instant connected = 10 * longest_way(schedule_) + 20 * millisecond;
  for (const auto& [client, watching] : watching_) {
    if (watching.since + connected > now) continue;
    if (!watching.seen || watching.seen->owner != owner)
      report_(Rule::watch, now, "a client that watches the lock is not told who has it");
    else if (token && watching.seen->token != *token)
      report_(Rule::watch, now,
              "a client is told token " + std::to_string(watching.seen->token) + " of a holder with token " +
                  std::to_string(*token));
  }
}

void WatchJudge::must_have_forgotten(std::string_view owner, Instant now) {
  for (const auto& [client, watching] : watching_)
    if (watching.seen && watching.seen->owner == owner)
      report_(Rule::watch, now, "a client that watches the lock is not told that its holder has left");
}

/// A quarter of a second later, by clocks that differ by a fiftieth.
Instant WatchJudge::told_again_at(std::string_view owner) const {
  Instant latest = 0;
  for (const auto& [client, watching] : watching_)
    if (watching.left == owner) latest = std::max(latest, watching.left_at + 255 * millisecond);
  return latest;
}

void WatchJudge::must_know_that_it_is_free(Instant now) {
  for (const auto& [client, watching] : watching_)
    if (!watching.seen || watching.seen->owner)
      report_(Rule::watch, now, "a client that watches the lock is not told that nobody has it");
}

}  // namespace redlock::simulation
