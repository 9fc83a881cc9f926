// Whether an attempt in line lost to a holder or to contenders.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "redlock/core/operation/tally.hpp"

namespace redlock::inline v1::core {

/// Contenders that ask at the same time get some nodes each, give them back, and separate by random pauses. A call that reaches
/// only some nodes may see the same votes while one client holds the lock: that client's majority includes nodes out of reach.
/// An owner value tells them apart. A contender asks with a new one each time, so a value that stays is that of a holder, or of
/// readers, who pause themselves. A pause would only delay the call when the lock is released.
class SplitVote {
 public:
  /// An attempt was denied with these votes. Returns true if it lost to contenders.
  [[nodiscard]] bool note(const Tally& votes) {
    std::vector<std::string> others;
    for (NodeIndex node = 0; node < votes.nodes(); ++node)
      if (votes.is(node, Tally::Mark::no) && votes[node].owner) others.push_back(*votes[node].owner);
    std::ranges::sort(others);
    others.erase(std::unique(others.begin(), others.end()), others.end());
    const bool is_contended = others.empty() || !std::ranges::includes(others_, others);
    others_ = std::move(others);
    return is_contended && votes.count(Tally::Mark::yes) > 0 && !votes.majority_has_one_owner();
  }

 private:
  std::vector<std::string> others_;  // whom the nodes named at the last attempt; empty: a node knows no name
};

}  // namespace redlock::inline v1::core
