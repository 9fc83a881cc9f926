#include "tool/locks/revoke.hpp"

#include <iostream>
#include <string>
#include <vector>

#include "redlock/core/base/printable.hpp"
#include "redlock/redlock.hpp"
#include "tool/exit_code.hpp"
#include "tool/lock_state.hpp"
#include "tool/locks/holder_text.hpp"

namespace redlock::tool {

int revoke(const RevokeArguments& arguments) {
  const Nodes nodes = choose_nodes(arguments.nodes);
  Redlock locks{nodes.endpoints, nodes.options};
  const std::vector<NodeReport> reports = locks.revoke(arguments.resource, arguments.why);
  const LockState state = lock_state_of(reports);
  if (state.kind == LockState::Kind::held) {
    std::cout << "Asked " << holder_text(state.owner) << " to give up " << core::printable(arguments.resource)
              << ".\n";
    return success;
  }
  if (state.kind == LockState::Kind::shared) {
    std::cout << "Asked all readers to give up " << core::printable(arguments.resource) << ".\n";
    return success;
  }
  std::cerr << "redlock: " << core::printable(describe(state, arguments.resource, reports), std::string::npos)
            << '\n';
  return state.kind == LockState::Kind::unknown ? without_majority(misconfigured(reports), reports.size())
                                                : conflict;
}

}  // namespace redlock::tool
