// What is wrong with one node.
#pragma once

#include <vector>

#include "tool/nodes/findings.hpp"

namespace redlock::tool {

/// Appends what is wrong with this node alone.
void examine(const NodeView&, const Survey&, std::vector<Finding>&);

}  // namespace redlock::tool
