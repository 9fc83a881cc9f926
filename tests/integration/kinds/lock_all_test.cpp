// Several locks at once on real servers.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "integration/kinds/things.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::LockAllResult;
using redlock::Redlock;
using redlock::Release;

struct Fixture {
  explicit Fixture(int count = 3, const redlock::Options& options = {})
      : nodes{count}, locks{endpoints(nodes), options} {}
  LocalNodes nodes;
  Observers servers{nodes};
  Redlock locks;
  Redlock others{endpoints(nodes)};
};

/// How often the server has read from its sockets. Each call counts as one itself.
std::uint64_t reads(RawClient& server) { return std::stoull(*server.info("total_reads_processed")); }

}  // namespace

TEST_CASE("ten_locks_are_acquired_and_released_in_one_batch_per_node") {
  Fixture f{3, unhurried};
  const redlock::LockOptions options{.renewal = redlock::Renewal::none};
  std::vector<std::string> texts;
  for (int which = 0; which < 10; ++which) texts.push_back("r" + std::to_string(which));
  const std::vector<std::string_view> names{texts.begin(), texts.end()};
  REQUIRE(f.locks.lock_all(names, options).value().release() == Release::released);  // makes the connections
  REQUIRE(eventually([&] { return f.servers.empty() == 3; }));

  std::array<std::uint64_t, 3> before{};
  const auto count = [&] {
    for (std::size_t node = 0; node < 3; ++node) before[node] = reads(f.servers[node]);
  };
  const auto is_one_batch = [&] {
    int nodes = 0;
    for (std::size_t node = 0; node < 3; ++node) {
      const std::uint64_t since = reads(f.servers[node]) - before[node] - 1;
      if (since > 1) return false;
      nodes += static_cast<int>(since);
    }
    return nodes >= 2;  // a majority has answered
  };
  count();
  redlock::Leases all = f.locks.lock_all(names, options).value();
  CHECK(is_one_batch());
  CHECK(eventually([&] { return f.servers.having("r0") == 3 && f.servers.having("r9") == 3; }));
  count();
  CHECK(all.release() == Release::released);
  CHECK(is_one_batch());
  CHECK(eventually([&] { return f.servers.empty() == 3; }));
}

TEST_CASE("a_failed_call_for_several_locks_leaves_none_on_the_nodes") {
  Fixture f;
  const auto held = f.others.try_lock("b");
  REQUIRE(held);
  const LockAllResult none = f.locks.try_lock_all({"a", "b", "c"});
  CHECK(none.code() == Errc::held);
  CHECK(none.message().find("b: ") != std::string::npos);
  CHECK(eventually([&] { return f.servers.having("a") + f.servers.having("c") == 0; }));
  CHECK(f.servers.holding("b", held->owner_value()) >= 2);
}

TEST_CASE("several_locks_are_all_or_none_without_a_minority_of_the_nodes") {
  Fixture f{5};
  const auto first = f.locks.try_lock_all({"a", "b"});
  REQUIRE(first);
  f.nodes.kill(1);
  f.nodes.kill(3);
  Observers living{f.nodes, {0, 2, 4}};
  CHECK(f.others.try_lock_all({"b", "c"}).code() == Errc::held);
  CHECK(eventually([&] { return living.having("c") == 0; }));
  redlock::Leases more = f.others.lock_all({"c", "d"}).value();
  CHECK(more.valid());
  CHECK(living.having("c") + living.having("d") == 6);
  CHECK(more.release() == Release::released);
  CHECK(eventually([&] { return living.having("c") + living.having("d") == 0; }));
  CHECK(first->valid());
}

TEST_CASE("a_call_that_waits_for_several_locks_has_none_and_keeps_its_place_at_each") {
  Fixture f;
  const redlock::LockOptions lasting{.ttl = 60s};
  auto held = f.others.try_lock("b", lasting);
  REQUIRE(held);
  auto waiter = std::async(std::launch::async, [&] {
    return f.locks.try_lock_all_for({"c", "b", "a"}, 60s, lasting);
  });
  WaitingLine first{f.nodes, "a"};
  WaitingLine second{f.nodes, "b"};
  WaitingLine third{f.nodes, "c"};
  REQUIRE(eventually([&] { return first.flags() == 3 && second.flags() == 3; }));
  CHECK(third.length() == 0);  // its turn comes when b is free
  CHECK(f.servers.having("a") + f.servers.having("c") == 0);
  CHECK(f.others.try_lock("a").is_held());  // stands behind
  {
    const auto free = f.others.try_lock("c");
    CHECK(free.has_value());
  }
  CHECK(held->release() == Release::released);
  const LockAllResult all = waiter.get();
  REQUIRE(all);
  CHECK(all->valid());
  CHECK(eventually([&] { return first.length() + second.length() + third.length() == 0; }));
}

TEST_CASE("calls_for_one_lock_and_for_several_take_turns") {
  Fixture f;
  constexpr int rounds = 12;
  Things things{2};
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  const auto work = [&](Redlock& locks, const std::vector<std::size_t>& wanted) {
    std::vector<std::string> texts;
    for (const std::size_t one : wanted) texts.push_back("thing" + std::to_string(one));
    const std::vector<std::string_view> names{texts.begin(), texts.end()};
    for (int round = 0; round < rounds; ++round) {
      const LockAllResult all = locks.try_lock_all_for(names, 60s);
      all ? things.use(wanted) : void(failed = failed + 1);
    }
  };
  for (Redlock* locks : {&f.locks, &f.others})
    for (const std::vector<std::size_t>& wanted : {std::vector<std::size_t>{0}, {1}, {0, 1}, {1, 0}})
      threads.emplace_back([&work, locks, wanted] { work(*locks, wanted); });
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  CHECK(things.clashes == 0);
}

TEST_CASE("one_call_takes_64_locks_with_the_longest_names") {
  Fixture f{3, unhurried};
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) names.push_back(std::to_string(100 + i) + std::string(4093, 'x'));
  const std::vector<std::string_view> resources{names.begin(), names.end()};
  redlock::Leases leases = f.locks.try_lock_all(resources).value();
  CHECK(leases.release() == Release::released);
  const LockAllResult shared = f.locks.try_lock_all(resources, {.shared = true});
  CHECK(shared.code() == std::error_code{});
}

TEST_CASE("leases_whose_releases_are_larger_together_than_what_a_connection_takes_are_all_released") {
  Fixture f{3, unhurried};
  const std::string name(4000, 'x');
  std::vector<redlock::Lease> leases;
  for (int i = 0; i < 1000; ++i) leases.push_back(f.locks.try_lock(name + std::to_string(i)).value());
  redlock::Leases all{std::move(leases)};
  CHECK(all.release() == Release::released);
  CHECK(std::ranges::all_of(all, [](redlock::Lease& one) { return one.release() == Release::released; }));
  CHECK(eventually([&] { return f.servers.empty() == 3; }));
}
