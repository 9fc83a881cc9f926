// What nodes reported.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "redlock/lock_client.hpp"
#include "redlock/node_report.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

namespace redlock::testing {

/// How many nodes have this status.
[[nodiscard]] inline std::ptrdiff_t count(std::span<const NodeReport> reports, NodeStatus status) {
  return std::count_if(reports.begin(), reports.end(),
                       [status](const NodeReport& report) { return report.status == status; });
}

/// The node has told who has the lock, or that nobody has it.
[[nodiscard]] inline bool votes(const NodeReport& report) {
  return report.status == NodeStatus::held || report.status == NodeStatus::free;
}

/// Inspects the resource until every node reports this status, and returns these reports.
[[nodiscard]] inline std::vector<NodeReport> reports_of_all(LockClient& locks, std::string_view resource,
                                                            NodeStatus status) {
  std::vector<NodeReport> reports;
  REQUIRE(eventually([&] {
    reports = locks.inspect(resource);
    return count(reports, status) == std::ssize(reports);
  }));
  return reports;
}

}  // namespace redlock::testing
