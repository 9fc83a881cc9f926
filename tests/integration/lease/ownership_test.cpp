// Clients and leases destroyed in any order free all their resources.
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/inspectable_lock.hpp"
#include "support/network/proxy.hpp"
#include "support/own_process.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Lease;
using redlock::Release;

namespace {

const redlock::LockOptions lasting{.ttl = 60s};

/// Descriptors and threads of this process. They must be the same again after all clients are destroyed.
struct ProcessResources {
  std::size_t descriptors = count_descriptors();
  std::set<pid_t> running = threads();
  bool operator==(const ProcessResources&) const = default;
};

bool all_resources_are_freed(const ProcessResources& before) {
  return eventually([&] { return ProcessResources{} == before; });
}

bool everything_is_gone(const LocalNodes& nodes) { return Observers{nodes}.empty() == nodes.size(); }

/// Whether the background thread runs. The first call that leaves work behind starts it.
bool has_background(const ProcessResources& before) { return threads().size() > before.running.size(); }

}  // namespace

TEST_CASE("leases_outlive_their_client") {
  LocalNodes nodes{3};
  const ProcessResources before;
  {
    std::vector<Lease> leases;
    {
      InspectableLock locks{endpoints(nodes)};
      for (const char* resource : {"a", "b", "c"}) leases.push_back(locks.lock(resource, lasting).value());
    }
    CHECK(leases[0].valid());
    CHECK(leases[0].extend());
    CHECK(leases[0].release() == Release::released);
    CHECK(leases[1].release() == Release::released);
  }
  CHECK(all_resources_are_freed(before));
  CHECK(eventually([&] { return everything_is_gone(nodes); }));
}

TEST_CASE("the_last_lease_may_be_destroyed_on_another_thread") {
  LocalNodes nodes{3};
  const ProcessResources before;
  for (int round = 0; round < 30; ++round) {
    std::optional<InspectableLock> locks{endpoints(nodes)};
    Lease lease = locks->lock("resource", lasting).value();
    std::jthread holder{[lease = std::move(lease)]() mutable { const Lease last = std::move(lease); }};
    locks.reset();
  }
  CHECK(all_resources_are_freed(before));
  CHECK(eventually([&] { return everything_is_gone(nodes); }));
}

TEST_CASE("leases_of_a_destroyed_client_may_be_destroyed_on_many_threads_at_once") {
  LocalNodes nodes{3};
  const ProcessResources before;
  for (int round = 0; round < 10; ++round) {
    std::vector<std::jthread> holders;
    InspectableLock locks{endpoints(nodes)};
    for (int holder = 0; holder < 8; ++holder)
      holders.emplace_back(
          [lease = locks.lock("resource " + std::to_string(holder), lasting).value()]() mutable {
            const Lease last = std::move(lease);
          });
  }
  CHECK(all_resources_are_freed(before));
  CHECK(eventually([&] { return everything_is_gone(nodes); }));
}

TEST_CASE("a_client_may_be_destroyed_at_any_point_of_a_reconnect") {
  LocalNodes nodes{3};
  Proxy dead{nodes.port(2)};
  const ProcessResources before;
  for (int round = 0; round < 40; ++round) {
    InspectableLock locks{{nodes.url(0), nodes.url(1), dead.url()}};
    static_cast<void>(locks.lock("resource", lasting).value());
    dead.refuse(true);
    dead.cut();
    // Notices the lost connection and reconnects in vain.
    static_cast<void>(locks.lock("resource", lasting).value());
    if (round == 0) CHECK(eventually([&] { return has_background(before); }));
    std::this_thread::sleep_for(std::chrono::milliseconds{round});
    dead.refuse(false);
  }
  CHECK(all_resources_are_freed(before));
}

TEST_CASE("releases_of_a_client_destroyed_while_a_node_hangs_still_arrive") {
  LocalNodes nodes{3};
  const ProcessResources before;
  {
    InspectableLock locks{endpoints(nodes)};
    Observers servers{nodes};
    reach_all(locks, servers);
    Lease lease = locks.lock("resource", lasting).value();
    REQUIRE(eventually([&] { return servers.having("resource") == 3; }));
    nodes.pause(2);
    lease.release();
  }
  CHECK(all_resources_are_freed(before));
  nodes.resume(2);
  CHECK(eventually([&] { return everything_is_gone(nodes); }));
}

TEST_CASE("an_unused_client_leaves_nothing_behind") {
  const ProcessResources before;
  for (int round = 0; round < 10; ++round) InspectableLock{{"127.0.0.1:1"}};
  CHECK(all_resources_are_freed(before));
}
