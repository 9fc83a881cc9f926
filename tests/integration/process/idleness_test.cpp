// Servers that close idle connections.
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Redlock;
using redlock::Release;

/// Whether no client of the library is connected.
bool nobody_is_connected(Observers& servers) {
  for (RawClient& server : servers) {
    const std::string list = server.command({"CLIENT", "LIST", "TYPE", "normal"});
    if (list.find(" name=redlock:") != std::string::npos) return false;
  }
  return true;
}

void be_idle_for_more_than_a_second() { std::this_thread::sleep_until(Clock::now() + 1500ms); }

/// Of a lease that needs no connection while it is held.
const redlock::LockOptions idle{.renewal = redlock::Renewal::none};

}  // namespace

TEST_CASE("idle_connections_closed_by_the_servers_are_replaced_without_an_error") {
  LocalNodes nodes{5, {.arguments = {"--timeout", "1"}}};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  REQUIRE(is_granted(locks.try_lock("r")));
  REQUIRE(eventually([&] { return nobody_is_connected(servers); }));

  auto lease = locks.try_lock("r", idle);
  REQUIRE(lease);
  CHECK(eventually([&] { return servers.holding("r", lease->owner_value()) == 5; }));
  CHECK(lease->release() == Release::released);
  CHECK(eventually([&] { return servers.empty() == 5; }));
}

TEST_CASE("connections_killed_while_idle_are_replaced_without_an_error") {
  LocalNodes nodes{5};
  Redlock locks{endpoints(nodes)};
  REQUIRE(is_granted(locks.try_lock("r")));
  be_idle_for_more_than_a_second();
  Observers servers{nodes};
  servers.command({"CLIENT", "KILL", "TYPE", "normal"});

  auto lease = locks.try_lock("r", idle);
  REQUIRE(lease);
  CHECK(eventually([&] { return servers.holding("r", lease->owner_value()) == 5; }));
  CHECK(lease->release() == Release::released);
}

TEST_CASE("a_lease_is_extended_and_released_over_new_connections") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  auto lease = locks.try_lock("r", idle);
  REQUIRE(lease);
  be_idle_for_more_than_a_second();
  servers.command({"CLIENT", "KILL", "TYPE", "normal"});
  CHECK(lease->extend());
  be_idle_for_more_than_a_second();
  servers.command({"CLIENT", "KILL", "TYPE", "normal"});
  CHECK(lease->release() == Release::released);
  CHECK(eventually([&] { return servers.empty() == 3; }));
}

TEST_CASE("an_inspection_after_an_idle_time_reaches_all_nodes") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  REQUIRE(is_granted(locks.try_lock("r")));
  be_idle_for_more_than_a_second();
  servers.command({"CLIENT", "KILL", "TYPE", "normal"});
  for (const auto& report : locks.inspect("r")) CHECK(report.status == redlock::NodeStatus::free);
}

TEST_CASE("a_late_answer_does_not_hide_the_end_of_an_idle_connection") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Proxies proxies{nodes};
  Redlock locks{proxies.endpoints(), {.connect_timeout = 20s, .node_timeout = 20s}};
  reach_all(locks, servers);
  proxies[2].set_delay(0ms, 300ms);
  auto lease = locks.try_lock("r", {.ttl = 60s, .renewal = redlock::Renewal::none});
  REQUIRE(lease);
  REQUIRE(eventually([&] { return proxies[2].late(300ms) > 0; }));
  proxies[2].set_delay(0ms, 0ms);
  be_idle_for_more_than_a_second();
  for (const auto& proxy : proxies) proxy->cut(Cut::close);
  CHECK(lease->release() == Release::released);
  // On the old connection the release would be lost, and the copy would stay for a minute.
  CHECK(eventually([&] { return servers.empty() == 3; }));
}
