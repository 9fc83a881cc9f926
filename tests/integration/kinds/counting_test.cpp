// Eight processes with eight threads each add to counters, under locks of each kind, while nodes and processes fail.
#include <string>

#include "integration/support/counting_processes.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"

using namespace redlock::testing;

namespace {

void no_addition_gets_lost(const std::string& kind) {
  LocalNodes nodes{5, {.persist = true}};
  CountingProcesses processes{nodes};
  for (int process = 0; process < 8; ++process) processes.start({ADDING_PROCESS, kind, "6000", "8", "0"});
  processes.fail(nodes);
  CHECK(processes.finish().empty());
  CHECK(processes.is_each_counted());
}

}  // namespace

// While nodes fail, and processes are killed and stopped:

TEST_CASE("no_addition_gets_lost_under_a_plain_lock") { no_addition_gets_lost("plain"); }

TEST_CASE("no_addition_gets_lost_under_a_recursive_mutex") { no_addition_gets_lost("recursive"); }

TEST_CASE("no_addition_gets_lost_under_one_of_two_locks_of_one_call") { no_addition_gets_lost("several"); }

TEST_CASE("no_addition_of_a_leader_gets_lost") { no_addition_gets_lost("leader"); }

TEST_CASE("no_addition_gets_lost_under_the_seats_of_a_semaphore") { no_addition_gets_lost("seat"); }
