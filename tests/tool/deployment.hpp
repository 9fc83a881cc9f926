// Begins a deployment, for tests of what comes after that.
#pragma once

#include <string>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "tool/program.hpp"

namespace redlock::testing {

/// Begins a deployment with a run at these addresses of the nodes. Returns when every node has its marker and nothing else:
/// the run itself ends when a majority has answered. The lock has a long ttl, so that a pause of the machine does not
/// lose it.
inline void start_deployment(const LocalNodes& nodes, const std::vector<std::string>& urls,
                             const std::vector<std::string>& options = {}) {
  std::vector<std::string> words{"run", "-w", "20"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"r", "--", "true"});
  const Program::Ending ending = run_tool(words, urls);
  INFO(ending.errors);
  REQUIRE(ending.code == 0);
  Observers servers{nodes};
  REQUIRE(eventually([&] { return all_are_marked(servers) && servers.empty() == nodes.size(); }));
}
inline void start_deployment(const LocalNodes& nodes) { start_deployment(nodes, nodes.urls()); }

}  // namespace redlock::testing
