// What nodes reported.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "redlock/node_report.hpp"

namespace redlock::testing {

/// How many nodes have this status.
[[nodiscard]] inline std::ptrdiff_t count(std::span<const NodeReport> reports, NodeStatus status) {
  return std::count_if(reports.begin(), reports.end(),
                       [status](const NodeReport& report) { return report.status == status; });
}

}  // namespace redlock::testing
