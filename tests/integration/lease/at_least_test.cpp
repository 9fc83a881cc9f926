// Locks with a minimum time, on real servers: nobody gets them before it is over, even if they are released.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "integration/support/calls_in_turn.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/waiting_line.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Errc;
using redlock::Holder;
using redlock::Lease;
using redlock::LockOptions;
using redlock::LockResult;
using redlock::Redlock;
using redlock::Release;
using redlock::SingleNodeLock;

struct Fixture {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};

  /// Waits until all nodes have a copy. A grant needs a majority only.
  Lease lock_everywhere(const std::string& resource, const LockOptions& options) {
    Lease lease = locks.lock(resource, options).value();
    REQUIRE(eventually([&] {
      if (servers.holding(resource, lease.owner_value()) == 3) return true;
      static_cast<void>(lease.extend());
      return false;
    }));
    return lease;
  }
  [[nodiscard]] bool all_keep(const std::string& resource) {
    return eventually([&] { return servers.holding(resource, "redlock:kept") == 3; });
  }
};

const LockOptions kept{.ttl = 20s, .at_least = 20s};

}  // namespace

TEST_CASE("a_released_lock_with_a_minimum_time_stays_on_the_nodes_without_a_holder") {
  Fixture f;
  Lease lease = f.lock_everywhere("r", kept);
  const std::string owner = lease.owner_value();
  CHECK(lease.release() == Release::released);
  REQUIRE(f.all_keep("r"));
  const LockResult refused = f.locks.try_lock("r");
  CHECK(refused.is_held());
  REQUIRE(refused.holder());
  CHECK(refused.holder()->is_kept());
  CHECK((refused.holder()->ttl > 0s && refused.holder()->ttl <= 20s));
  CHECK_THAT(refused.message(), contains("owner nobody, kept by at_least; "));
  // What arrives late from its last owner changes nothing.
  for (RawClient& server : f.servers) {
    const auto run = [&](const redlock::core::Script& script, std::vector<std::string> words) {
      words.insert(words.begin(), {"EVAL", std::string{script.source}, "2", "r", "redlock:f:{r}", owner});
      return server.command(words);
    };
    CHECK(run(redlock::core::extend_script, {"3600000", "0"}) == "-1");
    CHECK(run(redlock::core::put_back_script, {"3600000", "1", "0"}) == "0");
    CHECK(run(redlock::core::release_script, {}) == "0");
    CHECK(std::stoi(server.command({"PTTL", "r"})) <= 20'000);
  }
  CHECK(f.all_keep("r"));
}

TEST_CASE("a_release_after_the_minimum_time_frees_the_lock_however_often_it_was_extended") {
  Fixture f;
  const auto begun = Clock::now();
  Lease lease = f.lock_everywhere("r", {.ttl = 20s, .at_least = 10ms});
  CHECK(lease.extend());
  REQUIRE(eventually([&] { return Clock::now() - begun > 2s; }));
  CHECK(lease.release() == Release::released);
  CHECK(eventually([&] { return f.servers.having("r") == 0; }));
}

TEST_CASE("whatever_ends_a_lease_keeps_its_lock_but_an_adopter_gives_a_time_of_its_own") {
  Fixture f;
  { Lease lease = f.lock_everywhere("destroyed", kept); }
  CHECK(f.all_keep("destroyed"));
  LockOptions unfenced = kept;
  unfenced.fencing = false;
  f.lock_everywhere("unfenced", unfenced).release();
  CHECK(f.all_keep("unfenced"));
  Redlock other{endpoints(f.nodes)};
  const auto adopted = [&](const std::string& resource, const LockOptions& options) {
    return other.adopt(f.lock_everywhere(resource, kept).orphan().value(), options).value();
  };
  adopted("adopted", {}).release();
  CHECK(eventually([&] { return f.servers.having("adopted") == 0; }));
  adopted("kept", kept).release();
  CHECK(f.all_keep("kept"));
  Lease ended = f.lock_everywhere("shut down", kept);
  f.locks.shut_down();
  ended.release();
  CHECK(f.all_keep("shut down"));
}

TEST_CASE("an_attempt_that_fails_keeps_nothing") {
  Fixture f;
  for (const std::size_t node : {0U, 1U}) f.servers[node].command({"SET", "r", "somebody"});
  CHECK(f.locks.try_lock("r", kept).is_held());
  CHECK(eventually([&] { return f.servers.having("r") == 2; }));
}

TEST_CASE("a_single_node_keeps_a_lock_for_its_minimum_time") {
  LocalNodes nodes{1};
  Observers servers{nodes};
  SingleNodeLock locks{nodes.url(0)};
  CHECK(locks.lock("r", kept).value().release() == Release::released);
  CHECK(servers.holding("r", "redlock:kept") == 1);
  CHECK(locks.try_lock("r").is_held());
}

TEST_CASE("calls_in_line_of_any_client_get_the_lock_as_soon_as_the_minimum_time_is_over") {
  Fixture f;
  Redlock other{endpoints(f.nodes)};
  WaitingLine line{f.nodes, "r"};
  for (Redlock* const waiting : {&f.locks, &other}) {
    // Less than the time between two looks at the line. The best of several tries counts.
    Clock::duration shortest = 1h;
    for (int round = 0; round < 5 && shortest >= 500ms; ++round) {
      const auto begun = Clock::now();
      Lease lease = f.locks.lock("r", {.ttl = 60s, .at_least = 1s}).value();
      CallsInTurn calls{"r"};
      calls.add(*waiting);
      REQUIRE(eventually([&] { return line.length() == 1 && line.flags() == 3; }));
      lease.release();
      REQUIRE(eventually([&] { return calls.served().size() == 1; }));
      const Clock::duration after = Clock::now() - begun;
      // The clock of the servers counts whole milliseconds.
      CHECK(after >= 999ms);
      shortest = std::min(shortest, after - 1s);
    }
    CHECK(shortest < 500ms);
  }
}
