// Many threads that want one lock.
#include <atomic>
#include <chrono>
#include <list>
#include <thread>
#include <vector>

#include "integration/support/exclusion_checker.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

// Short, and meant above all for the thread sanitizer.
TEST_CASE("64_threads_of_two_clients_share_one_lock") {
  LocalNodes nodes{3};
  std::list<redlock::Redlock> clients;
  for (int client = 0; client < 2; ++client) clients.emplace_back(endpoints(nodes));
  ExclusionChecker<1> checker;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 64; ++thread)
    threads.emplace_back([&, &locks = thread % 2 == 0 ? clients.front() : clients.back()] {
      for (int turn = 0; turn < 4; ++turn) {
        // Some give up at first, so that others move to the first place while these leave it.
        auto lease = locks.try_lock_for("r", turn % 2 == 0 ? 60s : 5ms, {.ttl = 60s});
        while (!lease) lease = locks.try_lock_for("r", 60s, {.ttl = 60s});
        checker.acquired(0, *lease);
        checker.releasing(0, *lease);
      }
    });
  threads.clear();
  CHECK(checker.overlaps() == 0);
  CHECK(checker.leases() == 64 * 4);
  WaitingLine line{nodes, "r"};
  CHECK(eventually([&] { return line.keys().empty(); }));
}
