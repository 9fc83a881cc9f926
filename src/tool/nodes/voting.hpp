// Which nodes grant a lock, and waiting until all do.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "redlock/redlock.hpp"

namespace redlock::tool {

/// What a node says about a resource that nobody else uses.
struct Vote {
  NodeReport report;
  bool is_given = false;
};

/// Takes a lock on the resource without a fencing token several times a second, and releases it each time, until all nodes
/// have granted it for two seconds. Like every lock, this lets the restart guard mark the nodes. Meanwhile writes to stderr
/// which nodes do not vote, whenever that changes. Returns the last votes, before the timeout if all nodes that do not vote
/// have said that they vote only after it. If at the timeout all nodes vote, but not for long enough, they do not vote yet.
/// Throws `redlock::Error` (misconfigured) if a majority of the nodes can never vote.
[[nodiscard]] std::vector<Vote> wait_until_all_vote(Redlock&, const Options&, const std::string& resource,
                                                    const std::optional<std::chrono::nanoseconds>& timeout);

[[nodiscard]] bool all_given(const std::vector<Vote>&);
void print(const std::vector<Vote>&);  ///< To stdout.

/// Success if all nodes vote.
[[nodiscard]] int exit_code_of(const std::vector<Vote>&);

}  // namespace redlock::tool
