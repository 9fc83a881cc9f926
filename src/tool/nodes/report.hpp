// Shows a survey of the nodes and what was found.
#pragma once

#include <string>
#include <vector>

#include "tool/nodes/findings.hpp"
#include "tool/nodes/survey.hpp"

namespace redlock::tool {

/// `voting`, `new`, `lacks rights`, `quarantined, 41 s left`, or why the node does not vote.
[[nodiscard]] std::string state_of(const NodeView&);

/// One or two sentences: how many nodes vote, and the deployment.
[[nodiscard]] std::string describe(const Survey&);

/// Writes a row for each node, the findings, what could not be seen, and the conclusion to stdout.
void print_report(const Survey&, const std::vector<Finding>&);
/// Writes the same as one JSON object.
void print_report_as_json(const Survey&, const std::vector<Finding>&);

}  // namespace redlock::tool
