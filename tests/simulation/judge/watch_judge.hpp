// Checks what clients that watch a lock are told of its holder.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/operation/holding.hpp"
#include "simulation/judge/rule.hpp"
#include "simulation/scenario/schedule.hpp"

namespace redlock::simulation {

using NodeSet = std::bitset<32>;

/// A client may be told of a holder late, and not of each one, but never of one that no majority has had. Before the holder has
/// got the lock, its token may still be unknown, and another one may be told instead.
class WatchJudge {
 public:
  using Report = std::function<void(Rule, Instant now, std::string text)>;

  WatchJudge(const Schedule& schedule, Report report) : schedule_{schedule}, report_{std::move(report)} {}

  /// The process of this client watches the lock from now on.
  void began(int client, Instant now) { watching_[client] = {.since = now}; }
  void told(int client, const core::Holding& seen, Instant now);
  /// A node has got a copy.
  void copied(std::string_view owner, int node);
  /// There are no faults, and this holder has had the lock for a while. So all have been told of it and of its token, if it has
  /// one (otherwise 0) and a majority shows it (otherwise none).
  void must_know(std::string_view owner, std::optional<std::uint64_t> token, Instant now);
  /// Likewise, no node has had this holder's value for a while.
  void must_have_forgotten(std::string_view owner, Instant now);
  /// A client that was told that this holder has left is not told of it again before this time.
  [[nodiscard]] Instant told_again_at(std::string_view owner) const;
  /// Nobody has had the lock for so long that all have been told of that.
  void must_know_that_it_is_free(Instant now);

 private:
  struct Watching {
    Instant since;
    std::optional<core::Holding> seen = {};
    std::optional<std::string> left = {};  // the holder that was seen before
    Instant left_at = 0;
  };

  const Schedule& schedule_;
  Report report_;
  std::map<int, Watching> watching_;
  std::map<std::string, NodeSet, std::less<>> copies_;  // the nodes that have had one of this owner
};

}  // namespace redlock::simulation
