#include "tool/locks/revoke.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "redlock/core/base/printable.hpp"
#include "redlock/core/base/quorum.hpp"
#include "redlock/redlock.hpp"
#include "tool/exit_code.hpp"
#include "tool/lock_state.hpp"
#include "tool/locks/holder_text.hpp"
#include "tool/output.hpp"
#include "tool/semaphore/seats.hpp"

namespace redlock::tool {
namespace {

bool is_held(const LockState& state) {
  return state.kind == LockState::Kind::held || state.kind == LockState::Kind::shared;
}

/// Whoever gives the lock up at once has done so before slower nodes are asked. So if most nodes have answered, and do not name one
/// holder, the one who was asked on any node counts, unless nodes name several and a silent one could decide between them.
LockState state_when_asked(const std::vector<NodeReport>& reports) {
  LockState state = lock_state_of(reports);
  const auto voted = static_cast<std::size_t>(std::ranges::count_if(reports, has_voted));
  if (is_held(state) || voted < core::quorum(reports.size())) return state;
  std::optional<LockState> asked;
  for (const NodeReport& report : reports) {
    const LockState here = lock_state_of({&report, 1});
    if (!is_held(here)) continue;
    if (state.kind == LockState::Kind::unknown && asked && asked->owner != here.owner) return state;
    if (!asked) asked = here;
  }
  return asked.value_or(state);
}

}  // namespace

int revoke(const RevokeArguments& arguments) {
  const Nodes nodes = choose_nodes(arguments.nodes);
  Redlock locks{nodes.endpoints, nodes.options};
  const std::vector<NodeReport> reports = locks.revoke(arguments.resource, arguments.why);
  const LockState state = state_when_asked(reports);
  const bool never_ends = state.ttl == std::chrono::nanoseconds::max();
  if (is_held(state) && never_ends) {
    std::cerr << "redlock: nobody was asked: "
              << core::printable(describe(state, arguments.resource, reports), std::string::npos)
              << " Locks of redlock expire, so this is another program's key.\n";
    return conflict;
  }
  if (state.kind == LockState::Kind::held) {
    std::cout << "Asked " << holder_text(state.owner) << " to give up " << core::printable(arguments.resource)
              << ".\n";
    return success;
  }
  if (state.kind == LockState::Kind::shared) {
    std::cout << "Asked all readers to give up " << core::printable(arguments.resource) << ".\n";
    return success;
  }
  std::string text = describe(state, arguments.resource, reports);
  if (state.kind == LockState::Kind::free)
    text += describe_seats(arguments.resource, taken_among_first(locks, arguments.resource));
  std::cerr << "redlock: " << core::printable(text, std::string::npos) << '\n';
  if (state.kind != LockState::Kind::unknown) return conflict;
  write_reports(std::cerr, reports);
  return without_majority(misconfigured(reports), reports.size());
}

}  // namespace redlock::tool
