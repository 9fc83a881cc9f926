// Eight processes with eight threads each add to counters, under locks of each kind, while nodes fail.
#include <string>

#include "integration/support/counting_processes.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"

using namespace redlock::testing;

TEST_CASE("no_addition_gets_lost_under_a_lock_of_any_kind_while_nodes_fail") {
  const std::string kind = GENERATE(as<std::string>{}, "recursive", "several", "leader", "seat");
  CAPTURE(kind);
  LocalNodes nodes{5, {.persist = true}};
  CountingProcesses processes{nodes};
  constexpr long all = 8 * 8 * 3;
  for (int process = 0; process < 8; ++process) processes.start({ADDING_PROCESS, kind, "8", "3"});
  processes.fail_nodes(nodes, 5, all);
  processes.finish();
  CHECK(processes.count() == all);
}
