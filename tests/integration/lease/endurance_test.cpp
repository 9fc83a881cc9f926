// Renewal for a minute on nodes that fail one after another.
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/own_process.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Lease;
using redlock::Redlock;
using redlock::State;

/// When the node's copy expires, at the earliest. Measures again if the answer took so long that this says little.
Clock::time_point earliest_expiry(RawClient& server, const Lease& lease) {
  for (;;) {
    const Clock::time_point before = Clock::now();
    const std::chrono::milliseconds left{std::stoll(server.command({"PTTL", lease.resource()}))};
    if (Clock::now() - before < 5ms) return before + left;
  }
}

/// Number of nodes, not counting `but_for`, whose copy lives at least until the deadline of the lease.
int honest_nodes(LocalNodes& nodes, int but_for, const Lease& lease) {
  int honest = 0;
  for (int node = 0; node < nodes.size(); ++node) {
    if (node == but_for) continue;
    const Clock::time_point deadline = lease.deadline();
    RawClient server{nodes.port(node)};
    const bool is_there = server.get(lease.resource()) == lease.owner_value();
    honest += is_there && earliest_expiry(server, lease) >= deadline ? 1 : 0;
  }
  return honest;
}

/// A fault of one node: killed, paused or restarted. The destructor ends it.
class Fault {
 public:
  Fault(LocalNodes& nodes, int victim, unsigned kind) : nodes_{nodes}, victim_{victim}, kind_{kind % 3} {
    if (kind_ == 0) nodes_.kill(victim_);
    if (kind_ == 1) nodes_.pause(victim_);
    if (kind_ == 2) nodes_.restart_with_data(victim_);
  }
  ~Fault() { end(); }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
  void end() {
    if (std::exchange(is_over_, true)) return;
    if (kind_ == 0) nodes_.restart_with_data(victim_);
    if (kind_ == 1) nodes_.resume(victim_);
  }

 private:
  LocalNodes& nodes_;
  const int victim_;
  const unsigned kind_;
  bool is_over_ = false;
};

}  // namespace

TEST_CASE("a_lease_is_kept_with_a_true_deadline_for_a_minute_while_one_node_at_a_time_fails") {
  LocalNodes nodes{5, {.persist = true}};
  Redlock locks{endpoints(nodes), {.node_timeout = 700ms}};
  Observers servers{nodes};
  reach_all(locks, servers);
  const auto lease = locks.try_lock("r", {.ttl = 3s});
  REQUIRE(lease);
  REQUIRE(eventually([&] { return servers.holding("r", lease->owner_value()) == 5; }));
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random{seed};
  const auto end = Clock::now() + 60s;
  // A busy machine needs longer for as many samples.
  for (int samples = 0; Clock::now() < end || samples < 1000;) {
    const int victim = static_cast<int>(random() % 5);
    const auto kind = static_cast<unsigned>(random());
    const auto begin = Clock::now();
    const auto lasts = std::chrono::milliseconds{random() % 2500};
    Fault fault{nodes, victim, kind};
    for (; Clock::now() < begin + 3s; ++samples) {
      if (Clock::now() >= begin + lasts) fault.end();
      REQUIRE(lease->state() == State::held);
      // Three nodes complete an extension, and the victim may be one of them. Another one executes it a little later.
      REQUIRE(honest_nodes(nodes, victim, *lease) >= 2);
      REQUIRE(eventually([&] { return honest_nodes(nodes, victim, *lease) >= 3; }));
      std::this_thread::sleep_for(25ms);
    }
  }
}

TEST_CASE("after_a_thousand_cycles_only_held_leases_are_renewed") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  InspectableLock locks{endpoints(nodes), redlock::Options{.node_timeout = 1s}};
  for (int cycle = 0; cycle < 1000; ++cycle)
    REQUIRE(is_granted(locks.try_lock("r" + std::to_string(cycle % 7), {.ttl = 1500ms})));
  REQUIRE(eventually([&] { return locks.pending() == 0; }));  // also of a node that is behind the others
  const auto lease = locks.try_lock("held", {.ttl = 1500ms});
  REQUIRE(lease);
  const std::uint64_t before = servers.calls("pttl");
  std::this_thread::sleep_for(3s);
  // Each extension reads PTTL once per node: every 450 to 500 ms, on three nodes.
  const std::uint64_t renewals = servers.calls("pttl") - before;
  CHECK(renewals >= std::uint64_t{3} * 4);
  CHECK(renewals <= std::uint64_t{3} * 8);
  CHECK(lease->state() == State::held);
}
