// One node that harms the others if it can: it answers byte by byte or not at all, or sends without end.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/support/observers.hpp"
#include "integration/support/refusal.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/inspectable_lock.hpp"
#include "support/network/proxy.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::NodeStatus;
using redlock::Options;
using redlock::Release;

/// Three nodes; node 1 is behind a proxy.
struct Hostile {
  explicit Hostile(Options options = {})
      : locks{{nodes.url(0), proxy.url(), nodes.url(2)}, std::move(options)} {
    REQUIRE(eventually([&] { return is_released() && locks.ready_nodes() == 3; }));
    REQUIRE(eventually([&] { return locks.pending() == 0; }));
  }
  bool is_released() {
    auto lease = locks.try_lock("r");
    return lease && lease->release() == Release::released;
  }

  LocalNodes nodes{3};
  Proxy proxy{nodes.port(1)};
  InspectableLock locks;
};

}  // namespace

TEST_CASE("a_node_that_answers_byte_by_byte_is_given_up") {
  Hostile hostile;
  hostile.proxy.trickle(300ms, Direction::to_client);
  const auto end = std::chrono::steady_clock::now() + 20s;
  bool all_released = true;
  while (hostile.locks.ready(1) && std::chrono::steady_clock::now() < end)
    all_released = hostile.is_released() && all_released;
  CHECK(all_released);
  INFO("pending replies: " << hostile.locks.pending());
  CHECK_FALSE(hostile.locks.ready(1));
  CHECK(inspection_finds(hostile.locks, 1, NodeStatus::timed_out));

  hostile.proxy.trickle(0s, Direction::to_client);
  CHECK(eventually([&] { return hostile.is_released() && hostile.locks.ready(1); }));
}

TEST_CASE("a_node_that_answers_nothing_gets_releases_only_when_too_many_commands_are_unanswered") {
  constexpr std::size_t limit = 16384;
  Hostile hostile{{.node_timeout = 60s}};  // so the connection is given up after 240 s
  hostile.proxy.stall(true, Direction::to_client);
  bool all_released = true;
  for (int i = 0; i < 10'000 && hostile.locks.pending() <= limit; ++i)
    all_released = hostile.is_released() && all_released;
  for (int i = 0; i < 100; ++i) all_released = hostile.is_released() && all_released;
  CHECK(all_released);
  CHECK(hostile.locks.pending() > limit);
  const auto report = hostile.locks.inspect("r").at(1);
  CHECK(report.status == NodeStatus::overloaded);
  CHECK(report.message == "more than 16384 commands are unanswered");
  // What the node was asked for was undone.
  RawClient server{hostile.nodes.port(1)};
  CHECK(eventually([&] { return server.locks().empty(); }));

  hostile.proxy.stall(false, Direction::to_client);
  CHECK(eventually([&] { return hostile.locks.pending() == 0 && hostile.is_released(); }));
  CHECK(hostile.locks.ready(1));
}

TEST_CASE("a_node_that_floods_with_invalidation_messages_is_polled") {
  const std::string channel = "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n";
  const std::string keys = GENERATE(as<std::string>{}, "*-1\r\n", "*0\r\n", "*1\r\n$6\r\nlock 7\r\n");
  Hostile hostile;
  hostile.proxy.flood({}, "SUBSCRIBE");
  std::vector<redlock::Lease> leases;
  for (int i = 0; i < 200; ++i)
    leases.push_back(hostile.locks.lock("lock " + std::to_string(i), {.ttl = 1min}).value());
  RawClient server{hostile.nodes.port(1)};
  REQUIRE(eventually([&] { return server.info("tracking_total_keys") == "200"; }));
  REQUIRE(hostile.locks.listens(1));
  const std::uint64_t reads = server.calls("getrange");

  hostile.proxy.flood(channel + keys, "SUBSCRIBE");
  CHECK(eventually([&] { return !hostile.locks.listens(1); }));
  // Each message may cause reads, up to a limit, and every lease is read once more afterwards.
  CHECK(server.calls("getrange") - reads <= 1000 + 2 * 200 + 3 * 200);
  for (int i = 0; i < 100; ++i) CHECK(hostile.is_released());
  CHECK(hostile.locks.ready(1));
  // The listener is not dialled again soon.
  const std::uint64_t connections = hostile.proxy.counters().connections;
  std::this_thread::sleep_for(1s);
  CHECK(hostile.proxy.counters().connections == connections);
  for (const redlock::Lease& lease : leases) CHECK(lease.valid());
}

TEST_CASE("a_node_that_sends_replies_to_nothing_is_dialled_again_after_growing_pauses") {
  const std::string reply =
      GENERATE(as<std::string>{}, "+OK\r\n", "-ERR " + std::string(1U << 20U, 'x') + "\r\n",
               "*1\r\n$5\r\nhello\r\n", "\x15\x03\x01");
  Hostile hostile;
  const std::uint64_t before = hostile.proxy.counters().connections;
  const auto start = std::chrono::steady_clock::now();
  const auto end = start + 60s;
  hostile.proxy.flood(reply, "ROLE");
  hostile.proxy.cut();
  bool all_released = true;
  const auto counted = [&] { return hostile.proxy.counters().connections - before; };
  const auto needs_time = [&](auto now) { return now < start + 3s || (counted() < 5 && now < end); };
  while (needs_time(std::chrono::steady_clock::now())) {
    all_released = hostile.is_released() && all_released;
    std::this_thread::sleep_for(2ms);
  }
  CHECK(all_released);
  // Pauses of at least 25, 50, 100, 200, 400, 500, 500, … ms.
  const std::uint64_t most =
      8 + static_cast<std::uint64_t>((std::chrono::steady_clock::now() - start) / 500ms);
  CHECK(counted() <= most);
  // What is read of each connection is bounded; the kernel's buffers hold a few megabytes more.
  CHECK(hostile.proxy.counters().bytes_to_client <= (counted() + 1) * (32U << 20U));

  hostile.proxy.flood("", "");
  CHECK(eventually([&] { return hostile.is_released() && hostile.locks.ready_nodes() == 3; }));
}
