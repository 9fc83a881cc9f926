// Clients that hold a lease and make no call: what they notice of their nodes.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/inspectable_lock.hpp"
#include "support/own_process.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Lease;
using redlock::Redlock;

/// The number of connections for commands that the server has, without those of observers.
std::size_t connections_of_clients(RawClient& server) {
  const std::string list = server.command({"CLIENT", "LIST", "TYPE", "normal"});
  std::size_t count = 0;
  const std::string name = " name=redlock:";
  for (std::size_t at = list.find(name); at != list.npos; at = list.find(name, at + 1)) ++count;
  return count;
}

std::size_t connections_of_clients(Observers& servers) {
  std::size_t count = 0;
  for (RawClient& server : servers) count += connections_of_clients(server);
  return count;
}

int option_of(int socket, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, level, name, &value, &size) == 0 ? value : -1;
}

/// After how many seconds without a sign of the host the kernel ends each of this process' idle connections to the port.
std::vector<int> seconds_until_given_up(std::uint16_t port) {
  std::vector<int> all;
  for (int socket = 0; socket < 1024; ++socket) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (peer.sin_family != AF_INET || ntohs(peer.sin_port) != port) continue;
    REQUIRE(option_of(socket, SOL_SOCKET, SO_KEEPALIVE) == 1);
    all.push_back(option_of(socket, IPPROTO_TCP, TCP_KEEPIDLE) +
                  option_of(socket, IPPROTO_TCP, TCP_KEEPCNT) *
                      option_of(socket, IPPROTO_TCP, TCP_KEEPINTVL));
  }
  return all;
}

/// A lease that neither renews itself nor reports its loss: its client makes no use of its connections.
const redlock::LockOptions idle{.renewal = redlock::Renewal::none};

void close_connections(Observers& servers) { servers.command({"CLIENT", "KILL", "TYPE", "normal"}); }

}  // namespace

TEST_CASE("a_rolling_restart_of_all_nodes_does_not_give_the_lock_of_an_idle_holder_to_a_newcomer") {
  const int size = GENERATE(3, 5);
  CAPTURE(size);
  LocalNodes nodes{size};
  Redlock locks{endpoints(nodes)};
  const Lease lease = locks.lock("r", idle).value();
  int quarantined = 0;
  for (int node = 0; node < size; ++node) {
    nodes.restart_empty(node);
    RawClient server{nodes.port(node)};
    quarantined += eventually([&] { return server.pttl("redlock:quarantine") > 0; }, 4s) ? 1 : 0;
  }
  Redlock newcomer{endpoints(nodes)};
  const auto second = newcomer.try_lock_for("r", 1s);
  REQUIRE(lease.remaining() > 0s);
  CHECK_FALSE(second);
  CHECK(quarantined == size);
}

TEST_CASE("connections_closed_while_a_lease_is_in_force_are_replaced_without_further_calls") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  InspectableLock locks{endpoints(nodes)};
  const auto lease = locks.try_lock("r", idle);
  REQUIRE(lease);
  for (int round = 0; round < 2; ++round) {
    REQUIRE(eventually([&] { return connections_of_clients(servers) == 3; }));
    close_connections(servers);
    CHECK(eventually([&] { return connections_of_clients(servers) == 3 && locks.ready_nodes() == 3; }));
  }
}

TEST_CASE("an_idle_holder_reconnects_to_a_node_that_was_away") {
  LocalNodes nodes{3};
  InspectableLock locks{endpoints(nodes)};
  const auto lease = locks.try_lock("r", idle);
  REQUIRE(lease);
  REQUIRE(eventually([&] { return locks.ready_nodes() == 3; }));
  nodes.kill(1);
  CHECK(eventually([&] { return locks.ready_nodes() == 2; }));
  nodes.restart_empty(1);
  RawClient server{nodes.port(1)};
  CHECK(eventually([&] { return server.pttl("redlock:quarantine") > 0; }));
  CHECK(locks.ready_nodes() == 3);
}

// A host cannot vanish in this test, because the loopback interface loses nothing.
TEST_CASE("the_kernel_ends_idle_connections_to_a_host_that_has_vanished_after_ten_seconds") {
  LocalNodes nodes{1};
  InspectableLock locks{endpoints(nodes)};
  auto options = idle;
  options.on_lost = [](redlock::Loss) {};
  const auto lease = locks.try_lock("r", options);
  REQUIRE(lease);
  REQUIRE(eventually([&] { return locks.listens(0); }));
  CHECK(seconds_until_given_up(nodes.port(0)) == std::vector{10, 10});
}

TEST_CASE("connections_closed_while_no_lease_is_in_force_stay_closed_until_the_next_call") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  InspectableLock locks{endpoints(nodes)};
  auto lease = locks.try_lock("r", {.ttl = 1s, .renewal = redlock::Renewal::none});
  REQUIRE(lease);
  REQUIRE(eventually([&] { return locks.ready_nodes() == 3; }));
  SECTION("it was released") { lease->release(); }
  SECTION("its deadline has passed") { std::this_thread::sleep_until(lease->deadline()); }
  SECTION("it was orphaned") { REQUIRE(lease->orphan()); }
  std::this_thread::sleep_for(100ms);
  close_connections(servers);
  std::this_thread::sleep_for(300ms);
  CHECK(connections_of_clients(servers) == 0);
  // The next lease is watched again.
  Lease next;
  REQUIRE(eventually([&] {
    redlock::LockResult result = locks.try_lock("another", {.ttl = 60s, .renewal = redlock::Renewal::none});
    if (result) next = std::move(result).value();
    return next.valid();
  }));
  REQUIRE(eventually([&] { return connections_of_clients(servers) == 3; }));
  close_connections(servers);
  CHECK(eventually([&] { return connections_of_clients(servers) == 3; }));
}

TEST_CASE("an_extended_lease_is_watched_until_its_new_deadline") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  InspectableLock locks{endpoints(nodes)};
  auto lease = locks.try_lock("r", {.ttl = 2s, .renewal = redlock::Renewal::none});
  REQUIRE(lease);
  const Clock::time_point first_deadline = lease->deadline();
  std::this_thread::sleep_until(first_deadline - 1s);
  if (!lease->extend()) return;  // the machine was too busy to be in time
  std::this_thread::sleep_until(first_deadline + 10ms);
  close_connections(servers);
  const bool are_replaced = eventually([&] { return connections_of_clients(servers) == 3; }, 900ms);
  CHECK((are_replaced || !lease->valid()));
}

TEST_CASE("a_lease_without_the_restart_guard_needs_no_thread") {
  LocalNodes nodes{1};
  const std::set<pid_t> before = threads();
  Redlock locks{endpoints(nodes), redlock::Options{.restart_guard = redlock::RestartGuard::off}};
  const auto lease = locks.try_lock("r", idle);
  REQUIRE(lease);
  std::this_thread::sleep_for(50ms);
  for (const pid_t thread : threads()) CHECK(before.contains(thread));
}
