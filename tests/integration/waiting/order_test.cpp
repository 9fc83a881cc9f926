// Who waits for a lock gets it in the order of the calls, also while nodes and connections fail.
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <list>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/calls_in_turn.hpp"
#include "integration/support/number_from.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "integration/support/waiting_line.hpp"
#include "redlock/core/engine/engine.hpp"
#include "redlock/core/line/gates.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/own_process.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;

const int all = static_cast<int>(number_from("REDLOCK_WAITERS", 8));
/// Time between calls, beyond that until the earlier ones stand in line. Places are as exact as commands are fast, which they
/// are not on a busy machine.
const std::chrono::milliseconds apart{number_from("REDLOCK_APART_MS", 200)};

/// Five nodes, a holder, and a line of clients that called one after the other.
struct Fixture {
  explicit Fixture(std::chrono::milliseconds ttl = 60s) : calls{"r", {.ttl = ttl}} {}

  LocalNodes nodes{5};
  WaitingLine line{nodes, "r"};
  InspectableLock holder{endpoints(nodes)};
  std::list<InspectableLock> clients;
  CallsInTurn calls;
  redlock::Lease lease = holder.lock("r", {.ttl = 60s}).value();

  InspectableLock& add_client() { return clients.emplace_back(endpoints(nodes)); }
  /// Its call begins when the clients before it stand in line.
  void call_next() { call_next(add_client()); }
  void call_next(InspectableLock& client) {
    const int before = line.length();
    calls.add(client);
    REQUIRE(eventually([&] { return line.length() == before + 1; }));
    std::this_thread::sleep_for(apart);
  }
  void call_all() {
    for (int client = 0; client < all; ++client) call_next();
  }
  void serve_first(int count) {
    lease.release();
    calls.allow_releases(count - 1);
    REQUIRE(eventually([&] { return std::ssize(calls.served()) == count; }));
  }
  void serve_all() {
    calls.allow_releases(all);
    CHECK(eventually([&] { return std::ssize(calls.served()) == all; }));
  }
};

/// Waits until the thread has slept for a while, as it does in a waiting call.
void wait_until_asleep(pid_t thread) {
  REQUIRE(eventually([&] {
    const auto before = sleeps_of(thread);
    std::this_thread::sleep_for(30ms);
    return status_of(thread, "State").starts_with('S') && sleeps_of(thread) == before;
  }));
}

/// The gate that the client chooses while it reaches all nodes.
int chosen_gate(const InspectableLock& client) {
  return client.look([](const redlock::core::Engine& engine) {
    const auto run_id = [&](redlock::core::NodeIndex node) { return engine.session(node).run_id(); };
    return static_cast<int>(redlock::core::best_suited(engine.nodes(), "r", run_id).value());
  });
}

}  // namespace

TEST_CASE("clients_get_the_lock_in_the_order_of_their_calls_whatever_their_clocks_say") {
  Fixture f;
  for (int client = 0; client < all; ++client) {
    f.add_client().skew_proposals(std::chrono::hours{client % 2 == 0 ? client : -client});
    f.call_next(f.clients.back());
  }
  f.lease.release();
  f.serve_all();
  CHECK(f.calls.served() == numbers(all));
}

TEST_CASE("calls_of_one_client_and_of_others_are_served_in_their_common_order") {
  Fixture f;
  InspectableLock& one = f.add_client();
  InspectableLock& other = f.add_client();
  for (int call = 0; call < all; ++call) {
    const std::set<pid_t> before = threads();
    f.calls.add(call % 3 == 0 ? one : other);
    for (const pid_t thread : threads())
      if (!before.contains(thread)) wait_until_asleep(thread);
  }
  REQUIRE(f.line.length() == 2);
  f.lease.release();
  f.serve_all();
  CHECK(f.calls.served() == numbers(all));
}

TEST_CASE("the_order_outlives_the_node_that_keeps_it") {
  Fixture f;
  f.call_all();
  f.serve_first(3);
  const int gate = f.line.gate();
  f.line.leave_out(gate);
  const bool dies = GENERATE(true, false);
  dies ? f.nodes.kill(gate) : f.nodes.pause(gate);
  REQUIRE(eventually([&] { return f.line.length() == all - 3; }));
  // Whoever came to the next gate before those that precede it has to learn that it is not the first one any more.
  const std::string life = f.line.life_of_a_look();
  REQUIRE(eventually([&] { return f.line.looked_since(life) == all - 3; }));
  f.serve_all();
  CHECK(f.calls.served() == numbers(all));
}

// Some clients redial the node later than others. Until all have, there are two lines.
TEST_CASE("the_order_outlives_a_restart_of_the_node_that_keeps_it") {
  Fixture f{9s};
  f.call_all();
  f.serve_first(3);
  // A node that had not released the former holder's copy has denied the next one, and gets a copy from the first renewal. Until
  // then the lock may be lost with the copy of one node.
  Observers servers{f.nodes};
  REQUIRE(eventually([&] {
    const auto owner = servers[0].get("r");
    return owner && servers.holding("r", *owner) == 5;
  }));
  f.nodes.restart_empty(f.line.gate());
  WaitingLine after{f.nodes, "r"};
  for (const InspectableLock& client : f.clients)
    REQUIRE(eventually([&] { return client.ready_nodes() == 5; }));
  REQUIRE(eventually([&] { return after.length_at(chosen_gate(f.clients.back())) == all - 3; }));
  // As above: whoever came there before those that precede it has to learn that it is not the first one any more.
  REQUIRE(after.wait_until_all_know_their_places(all - 3));
  f.serve_all();
  CHECK(f.calls.served() == numbers(all));
}

TEST_CASE("nobody_waits_for_ever_while_the_node_that_keeps_the_order_fails") {
  Fixture f;
  f.call_all();
  f.lease.release();
  f.calls.allow_releases(all);
  const bool dies = GENERATE(true, false);
  const int gate = f.line.gate();
  dies ? f.nodes.kill(gate) : f.nodes.pause(gate);
  CHECK(eventually([&] { return std::ssize(f.calls.served()) == all; }));
}

TEST_CASE("a_client_whose_connections_broke_is_back_at_its_place") {
  Fixture f;
  Proxies proxies{f.nodes};
  f.call_next();
  f.call_next(f.clients.emplace_back(proxies.endpoints()));
  f.call_next();
  const int gate = f.line.gate();
  Proxy& proxy = proxies[static_cast<std::size_t>(gate)];
  WaitingLine elsewhere{f.nodes, "r"};
  elsewhere.leave_out(gate);
  proxy.refuse(true);
  proxy.cut();
  REQUIRE(eventually([&] { return elsewhere.length() == 1; }));
  proxy.refuse(false);
  REQUIRE(eventually([&] { return elsewhere.length() == 0 && f.line.length_at(gate) == 3; }));
  f.lease.release();
  f.calls.allow_releases(3);
  CHECK(eventually([&] { return f.calls.served() == numbers(3); }));
}

// It stands in a line of its own then, so that its order among the others is not certain.
TEST_CASE("a_client_that_cannot_reach_the_node_that_keeps_the_order_gets_the_lock") {
  Fixture f;
  Proxies proxies{f.nodes};
  f.call_next();
  f.call_next(f.clients.emplace_back(proxies.endpoints()));
  f.call_next();
  Proxy& gate = proxies[static_cast<std::size_t>(f.line.gate())];
  gate.refuse(true);
  gate.cut();
  f.lease.release();
  f.calls.allow_releases(3);
  CHECK(eventually([&] { return std::ssize(f.calls.served()) == 3; }));
}
