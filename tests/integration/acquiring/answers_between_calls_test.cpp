// Answers that arrive while no call is running.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/network/proxy.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::NodeStatus;

namespace {

/// Neither renewed nor watched, so that nothing more is sent.
const redlock::LockOptions lasting{.ttl = 60s, .renewal = redlock::Renewal::none};

/// Three nodes that answer at once, and two whose answers can be held back.
struct SlowMinority {
  LocalNodes nodes{5};
  Proxy fourth{nodes.port(3)};
  Proxy fifth{nodes.port(4)};
  InspectableLock locks{{nodes.url(0), nodes.url(1), nodes.url(2), fourth.url(), fifth.url()},
                        {.connect_timeout = 20s, .node_timeout = 20s}};  // keeps connections without answers

  SlowMinority() {
    REQUIRE(is_granted(locks.try_lock("warm up", lasting)));
    REQUIRE(eventually([&] { return locks.ready_nodes() == 5 && locks.pending() == 0; }));
  }
  void hold_answers() {
    for (Proxy* const proxy : {&fourth, &fifth}) proxy->stall(true, Direction::to_client);
  }
  void let_answers_through() {
    for (Proxy* const proxy : {&fourth, &fifth}) proxy->stall(false, Direction::to_client);
  }
};

}  // namespace

// Two grants arrive after the call has returned, while no thread reads the sockets. The next call uses the same
// connections and must not take these grants for its own answers.
TEST_CASE("answers_that_arrived_between_calls_are_consumed_by_the_next_call") {
  SlowMinority network;
  InspectableLock& locks = network.locks;
  network.hold_answers();
  const std::size_t late_before = locks.late_replies();
  const auto has_answered = [](const Proxy& proxy, std::uint64_t before) {
    return proxy.counters().bytes_to_client > before;
  };
  const std::uint64_t from_fourth = network.fourth.counters().bytes_to_client;
  const std::uint64_t from_fifth = network.fifth.counters().bytes_to_client;
  const auto lease = locks.try_lock("resource", lasting);
  REQUIRE(lease);
  network.let_answers_through();
  REQUIRE(eventually(
      [&] { return has_answered(network.fourth, from_fourth) && has_answered(network.fifth, from_fifth); }));
  CHECK(locks.pending() == 2);
  CHECK(locks.late_replies() == late_before);

  const auto reports = locks.inspect("resource");
  REQUIRE(reports.size() == 5);
  for (const redlock::NodeReport& report : reports) {
    CAPTURE(report.node, report.message);
    CHECK(report.status == NodeStatus::held);
    CHECK(report.owner == lease->owner_value());
  }
  CHECK(locks.late_replies() == late_before + 2);
  CHECK(locks.pending() == 0);
}

TEST_CASE("late_denials_are_not_attributed_to_the_next_attempt") {
  SlowMinority network;
  InspectableLock& locks = network.locks;
  InspectableLock others{endpoints(network.nodes)};
  redlock::Lease taken = others.lock("resource", lasting).value();
  REQUIRE(eventually([&] { return Observers{network.nodes}.having("resource") == 5; }));

  network.hold_answers();
  CHECK(locks.try_lock("resource", lasting).is_held());
  taken = {};
  REQUIRE(eventually([&] { return Observers{network.nodes}.having("resource") == 0; }));
  network.nodes.pause(0);
  const std::size_t late_before = locks.late_replies();
  // The denials of the slow nodes are still on their way and must be read before their grants.
  network.let_answers_through();
  const auto lease = locks.try_lock_for("resource", 60s, {.ttl = 60s});
  REQUIRE(lease);
  CHECK(locks.late_replies() > late_before);
  network.nodes.resume(0);
  CHECK(eventually([&] { return Observers{network.nodes}.holding("resource", lease->owner_value()) == 5; }));
}

// A call that is decided leaves answers in the sockets, to read several at once; but not any number of them.
TEST_CASE("answers_that_nobody_waits_for_do_not_pile_up") {
  constexpr std::size_t locked = 20;
  redlock::LockOptions plain = lasting;
  plain.fencing = false;
  constexpr std::size_t least_answer = 5;  // bytes: +OK and a line end
  SlowMinority network;
  InspectableLock& locks = network.locks;
  network.hold_answers();
  const std::uint64_t from_fourth = network.fourth.counters().bytes_to_client;
  const std::uint64_t from_fifth = network.fifth.counters().bytes_to_client;
  std::vector<redlock::Lease> leases;
  for (std::size_t i = 0; i < locked; ++i)
    leases.push_back(locks.lock("resource/" + std::to_string(i), plain).value());
  const auto pending = [&](redlock::core::NodeIndex node) {
    return locks.look([node](const redlock::core::Engine& engine) { return engine.session(node).pending(); });
  };
  CHECK(pending(3) == locked);
  CHECK(pending(4) == locked);
  network.let_answers_through();
  const auto have_all_arrived = [](const Proxy& proxy, std::uint64_t before) {
    return proxy.counters().bytes_to_client >= before + locked * least_answer;
  };
  REQUIRE(eventually([&] {
    return have_all_arrived(network.fourth, from_fourth) && have_all_arrived(network.fifth, from_fifth);
  }));

  leases.push_back(locks.lock("one more", plain).value());
  CHECK(pending(3) <= 1);
  CHECK(pending(4) <= 1);
}
