// Who has a lock, as a majority of the nodes shows it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "redlock/core/base/quorum.hpp"
#include "redlock/core/operation/tally.hpp"

namespace redlock::inline v1::core {

struct Holding {
  std::optional<std::string> owner = {};  // the value of the key; none if nobody has the lock
  std::uint64_t token = 0;                // the counter that a majority shows beside this owner, if one does

  friend bool operator==(const Holding&, const Holding&) = default;
};

/// Reads votes of which *no* means that the node shows an owner, and *yes* that it shows none. Returns none while the
/// nodes that have not shown anything could decide it.
[[nodiscard]] inline std::optional<Holding> holding_in(const Tally& tally) {
  const std::size_t nodes = tally.nodes();
  const auto count = [&](const auto& counts) {
    std::size_t sum = 0;
    for (NodeIndex node = 0; node < nodes; ++node) sum += counts(tally[node]) ? 1 : 0;
    return sum;
  };
  std::size_t most = 0;  // nodes that show the same owner
  for (NodeIndex node = 0; node < nodes; ++node) {
    if (!tally.is(node, Tally::Mark::no)) continue;
    const Tally::Ballot& shown = tally[node];
    const auto shows_owner = [&](const Tally::Ballot& each) {
      return each.mark == Tally::Mark::no && each.owner == shown.owner;
    };
    most = std::max(most, count(shows_owner));
    const auto shows_both = [&](const Tally::Ballot& each) {
      return shows_owner(each) && each.counter == shown.counter;
    };
    if (shown.counter && count(shows_both) >= quorum(nodes)) return Holding{shown.owner, *shown.counter};
  }
  if (const std::string* const owner = tally.owner_of_majority()) return Holding{*owner};
  const std::size_t silent = nodes - tally.votes();
  if (most + silent >= quorum(nodes)) return std::nullopt;
  return Holding{};
}

}  // namespace redlock::inline v1::core
