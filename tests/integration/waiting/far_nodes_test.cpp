// Clients that want one lock of nodes at different distances.
#include <chrono>
#include <list>
#include <thread>
#include <vector>

#include "integration/support/exclusion_checker.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;

// Whoever asks before a majority is free finds some nodes taken, and has to ask again. Longer round trips make that likelier.
TEST_CASE("contenders_for_far_nodes_need_hardly_more_than_one_attempt_each") {
  constexpr int contenders = 3;
  constexpr int turns = 20;
  LocalNodes nodes{3};
  Observers servers{nodes};
  Proxies proxies{nodes};
  proxies[0].set_delay(500us, 500us);
  proxies[1].set_delay(2500us, 2500us);
  proxies[2].set_delay(7500us, 7500us);
  std::list<redlock::Redlock> clients;
  for (int client = 0; client < contenders; ++client)
    static_cast<void>(clients.emplace_back(proxies.endpoints()).lock("warm up").value());

  servers.command({"CONFIG", "RESETSTAT"});
  ExclusionChecker<1> checker;
  std::vector<std::jthread> threads;
  for (redlock::Redlock& locks : clients)
    threads.emplace_back([&] {
      for (int turn = 0; turn < turns; ++turn) {
        const redlock::Lease lease = locks.lock("r", {.ttl = 60s}).value();
        checker.acquired(0, lease);
        std::this_thread::sleep_for(2ms);
        checker.releasing(0, lease);
      }
    });
  threads.clear();
  CHECK(checker.overlaps() == 0);
  CHECK(checker.leases() == contenders * turns);
  // Each attempt looks once on each node whether that is in quarantine.
  const auto attempts = static_cast<double>(servers.calls("exists")) / nodes.size();
  CHECK(attempts / (contenders * turns) <= 1.2);
}
