// What wakes the first one in line, and what the others send meanwhile.
#include <algorithm>
#include <chrono>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "integration/support/calls_in_turn.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Redlock;

/// Far less than the time between two looks, which is more than a second. The best of several tries counts, because a busy
/// machine may delay some of them.
constexpr auto at_once = 500ms;
constexpr int tries = 5;

/// Each look reads the name of the line. Nothing else in these tests calls this command.
constexpr std::string_view of_a_look = "getrange";

struct Fixture {
  LocalNodes nodes{3};
  Observers servers{nodes};
  WaitingLine line{nodes, "r"};
  Redlock locks{endpoints(nodes)};
};

/// The shortest time from `free_lock(tick)` until a waiting call has the lock.
template <class FreeLock>
Clock::duration shortest_wake_up(Fixture& f, FreeLock free_lock) {
  Clock::duration shortest = 1h;
  for (int round = 0; round < tries; ++round) {
    f.line.take("somebody");
    CallsInTurn calls{"r"};
    calls.add(f.locks);
    REQUIRE(eventually([&] { return f.line.length() == 1 && f.line.flags() == 3; }));
    const Clock::time_point free_at = free_lock();
    REQUIRE(eventually([&] { return calls.served().size() == 1; }));
    shortest = std::min(shortest, Clock::now() - free_at);
  }
  return shortest;
}

}  // namespace

TEST_CASE("the_first_in_line_wakes_up_when_a_majority_of_the_copies_is_deleted") {
  Fixture f;
  const auto shortest = shortest_wake_up(f, [&] {
    f.servers[0].del("r");
    f.servers[2].del("r");
    return Clock::now();
  });
  CHECK(shortest < at_once);
}

TEST_CASE("the_first_in_line_wakes_up_when_a_majority_of_the_copies_expires") {
  Fixture f;
  const auto shortest = shortest_wake_up(f, [&] {
    const auto now = Clock::now();
    f.servers[1].command({"SET", "r", "somebody", "PX", "700"});
    f.servers[2].command({"SET", "r", "somebody", "PX", "700"});
    return now + 700ms;
  });
  CHECK(shortest < at_once);
  CHECK(shortest > 0s);
}

TEST_CASE("a_minority_of_deleted_copies_wakes_nobody") {
  Fixture f;
  f.line.take("somebody");
  CallsInTurn calls{"r"};
  calls.add(f.locks);
  REQUIRE(eventually([&] { return f.line.length() == 1 && f.line.flags() == 3; }));
  const int gate = f.line.gate();
  RawClient& free_node = f.servers[static_cast<std::size_t>((gate + 1) % 3)];
  RawClient& other_node = f.servers[static_cast<std::size_t>((gate + 2) % 3)];
  RawClient& ordering_node = f.servers[static_cast<std::size_t>(gate)];
  const auto attempts = other_node.attempts();
  const auto looks = ordering_node.calls(of_a_look);
  free_node.del("r");
  REQUIRE(eventually([&] { return ordering_node.calls(of_a_look) >= looks + 2; }));
  CHECK(other_node.attempts() == attempts);
  CHECK(calls.served().empty());
}

TEST_CASE("who_waits_makes_no_attempts") {
  Fixture f;
  f.line.take("somebody");
  std::list<Redlock> clients;
  CallsInTurn calls{"r"};
  for (int client = 0; client < 16; ++client) calls.add(clients.emplace_back(endpoints(f.nodes)));
  REQUIRE(eventually([&] { return f.line.length() == 16; }));
  const auto attempts = f.servers.attempts();
  const auto looks = f.servers.calls(of_a_look);
  const auto begun = Clock::now();
  std::this_thread::sleep_for(3s);
  const std::chrono::duration<double> seconds = Clock::now() - begun;
  CHECK(f.servers.attempts() == attempts);
  CHECK(static_cast<double>(f.servers.calls(of_a_look) - looks) <= 16 * (1 + seconds.count()));
  CHECK(f.line.length() == 16);
}
