// Processes that read a number and add to it, and readers that are killed.
#include <signal.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "integration/support/counting_processes.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/sanitized.hpp"

using namespace redlock::testing;
using namespace std::chrono_literals;

TEST_CASE("a_counter_never_moves_under_readers_while_nodes_and_processes_fail") {
  LocalNodes nodes{5, {.persist = true}};
  CountingProcesses processes{nodes};
  for (int process = 0; process < 8; ++process) processes.start({READING_PROCESS, "6000", "8", "count"});
  processes.fail(nodes);
  CHECK(processes.finish() == std::vector<std::string>(5, "0"));  // of eight processes, three are killed
  CHECK(processes.is_each_counted());
}

TEST_CASE("a_writer_gets_the_lock_when_the_longest_of_100_killed_readers_has_expired") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  CountingProcesses processes{nodes};
  redlock::Redlock locks{endpoints(nodes)};
  const pid_t readers = processes.start({READING_PROCESS, "3000", "100", "hold"});
  REQUIRE(eventually([&] { return readers_in(locks.inspect("counter")).size() == 100; }));
  CHECK(locks.try_lock("counter").is_held());
  REQUIRE(::kill(readers, SIGKILL) == 0);
  processes.finish();
  servers.command({"PING"});  // when it has answered, the server has executed what the readers had sent
  std::chrono::milliseconds longest{0};
  for (RawClient& server : servers)
    longest = std::max(longest, std::chrono::milliseconds{server.pttl("counter")});
  const auto killed = redlock::Clock::now();
  // Every second reader has this ttl. The others renew theirs when a third is over, so 2 s are left.
  constexpr auto half_of_a_ttl = 1500ms;
  CHECK(longest > half_of_a_ttl);
  CHECK(longest <= 3s);
  const redlock::Lease writer = locks.try_lock_for("counter", 60s).value();
  const auto waited = redlock::Clock::now() - killed;
  CAPTURE(waited.count(), longest.count());
  CHECK(waited > half_of_a_ttl);
  // A node drops the lock one ttl after the last command of a reader that it has executed, so in `longest` at most. The writer has
  // read these times as the first one in line. When they are over on a majority, it begins its attempt, which takes one round trip.
  // So it has the lock up to the longest ttl, and the time of that attempt, after the readers were killed. The attempt takes 3 ms,
  // and took 18 ms with four busy threads for each processor. A writer that waited for its next look at the gate would be later.
  CHECK(waited <= longest + (sanitized ? 1000ms : 250ms));
  CHECK(writer.valid());
}
