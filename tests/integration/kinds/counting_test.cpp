// Eight processes with eight threads each add to counters, under locks of each kind, while nodes and processes fail.
#include <string>

#include "integration/support/counting_processes.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"

using namespace redlock::testing;

TEST_CASE("no_addition_gets_lost_under_a_lock_of_any_kind_while_nodes_and_processes_fail") {
  const std::string kind = GENERATE(as<std::string>{}, "plain", "recursive", "several", "leader", "seat");
  CAPTURE(kind);
  LocalNodes nodes{5, {.persist = true}};
  CountingProcesses processes{nodes};
  for (int process = 0; process < 8; ++process) processes.start({ADDING_PROCESS, kind, "6000", "8", "3"});
  constexpr long least = 5 * 8 * 3;  // of eight processes, three are killed
  processes.fail(nodes, 5, least);
  CHECK(processes.finish().empty());
  CHECK(processes.count() >= least);
  CHECK(processes.is_each_counted());
}
