// Locks that go from one holder to the next.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <thread>

#include "integration/support/measure.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::Errc;
using redlock::Error;
using redlock::FencingToken;
using redlock::Lease;
using redlock::LockOptions;
using redlock::Loss;
using redlock::Redlock;
using redlock::Release;
using redlock::State;

struct Fixture {
  explicit Fixture(int size = 3) : nodes{size} {}
  LocalNodes nodes;
  Observers servers{nodes};
  Redlock leaver{endpoints(nodes)};
  Redlock adopter{endpoints(nodes)};
};

/// Waits until every node has a copy. A grant needs a majority only: a node that was slow to connect gets no copy until an
/// extension finds that it has none.
bool spread(Lease& lease, Observers& servers) {
  return eventually([&] {
    const int all = static_cast<int>(servers.size());
    if (servers.holding(lease.resource(), lease.owner_value()) == all) return true;
    static_cast<void>(lease.extend());
    return false;
  });
}

/// For attempts that must hear from every node: a node that answers late is waited for.
redlock::Options patient() {
  redlock::Options options;
  options.connect_timeout = 20s;
  options.node_timeout = 20s;
  return options;
}

}  // namespace

TEST_CASE("an_orphaned_lock_goes_to_its_adopter_with_a_greater_token") {
  Fixture f;
  auto left = f.leaver.try_lock("r", {.ttl = 5s});
  REQUIRE(left);
  const std::string owner = left->owner_value();
  const FencingToken token = left->fencing_token();
  const auto deadline = left->deadline();
  CHECK(left->orphan());
  CHECK(left->state() == State::released);
  CHECK(left->loss() == Loss::none);
  CHECK(left->owner_value() == owner);
  CHECK(left->deadline() == deadline);
  CHECK_FALSE(left->extend());
  CHECK_FALSE(left->orphan());
  CHECK(left->release() == Release::already_lost);
  *left = {};
  CHECK(f.adopter.try_lock("r").is_held());

  auto adopted = f.adopter.adopt({"r", owner, token}, {.ttl = 10s});
  REQUIRE(adopted);
  CHECK(adopted->resource() == "r");
  CHECK(adopted->fencing_token() > token);
  CHECK(adopted->owner_value() != owner);
  CHECK(adopted->remaining() > 9s);
  CHECK(eventually([&] { return f.servers.holding("r", adopted->owner_value()) == 3; }));
  CHECK(adopted->extend());
  CHECK(adopted->release() == Release::released);
  CHECK(is_granted(f.leaver.try_lock("r")));
}

TEST_CASE("an_orphaned_lease_is_not_renewed_and_reports_no_loss") {
  Fixture f;
  std::atomic<int> told = 0;
  auto lease = f.leaver.try_lock("r", {.ttl = 1s, .on_lost = [&](Loss) { ++told; }});
  REQUIRE(lease);
  const auto token = lease->stop_token();
  std::this_thread::sleep_for(1200ms);
  CHECK(lease->orphan());
  const auto deadline = lease->deadline();
  CHECK(deadline > Clock::now());
  CHECK(eventually([&] { return f.servers.empty() == 3; }));
  CHECK(Clock::now() < deadline + 1s);
  CHECK(lease->deadline() == deadline);
  CHECK(told == 0);
  CHECK_FALSE(token.stop_requested());
}

TEST_CASE("a_lost_lease_cannot_be_orphaned_and_its_release_deletes_what_is_left_of_it") {
  Fixture f;
  Lease lease = f.leaver.lock("r", {.renewal = redlock::Renewal::none}).value();
  REQUIRE(spread(lease, f.servers));
  f.servers[0].del("r");
  f.servers[1].del("r");
  REQUIRE_FALSE(lease.extend());
  CHECK_FALSE(lease.orphan());
  CHECK(lease.loss() == Loss::deleted);
  CHECK(f.servers[2].get("r") == lease.owner_value());
  CHECK(lease.release() == Release::already_lost);
  CHECK(eventually([&] { return f.servers.having("r") == 0; }));
}

TEST_CASE("only_one_of_two_adopters_gets_the_lock") {
  Fixture f{5};
  // Of five votes one adopter has at least three. Of four, each may have two.
  Redlock adopter{endpoints(f.nodes), patient()};
  Redlock rival{endpoints(f.nodes), patient()};
  for (int round = 0; round < 100; ++round) {
    auto left = f.leaver.lock("r", {.ttl = 5s}).value();
    REQUIRE(spread(left, f.servers));
    REQUIRE(left.orphan());
    const auto adopt = [&](Redlock& client) {
      return client.adopt({"r", left.owner_value(), left.fencing_token()});
    };
    auto beside = std::async(std::launch::async, [&] { return adopt(rival); });
    const auto one = adopt(adopter);
    const auto another = beside.get();
    CHECK(one.has_value() != another.has_value());
  }
}

TEST_CASE("when_neither_adopter_has_a_majority_the_lock_stays_and_one_of_them_gets_it_later") {
  Fixture f{5};
  auto left = f.leaver.lock("r", {.ttl = 20s}).value();
  REQUIRE(spread(left, f.servers));
  REQUIRE(left.orphan());
  REQUIRE(eventually([&] { return f.servers.holding("r", left.owner_value()) == 5; }));
  f.nodes.kill(4);
  // Another adopter has two of the four who answer.
  const std::string rival(40, 'b');
  Observers{f.nodes, {0, 1}}.command({"SET", "r", rival, "PX", "20000"});
  CHECK(f.adopter.adopt({"r", left.owner_value(), left.fencing_token()}).code() == Errc::no_quorum);
  CHECK(eventually([&] { return Observers(f.nodes, {2, 3}).holding("r", left.owner_value()) == 2; }));
  // It swaps back as well.
  Observers{f.nodes, {0, 1}}.command({"SET", "r", left.owner_value(), "PX", "20000"});
  const auto adopted = f.adopter.adopt({"r", left.owner_value(), left.fencing_token()});
  CHECK(adopted);
}

TEST_CASE("an_adopter_gets_a_greater_token_even_if_the_nodes_lost_their_counters") {
  Fixture f;
  auto left = f.leaver.lock("r", {.ttl = 20s}).value();
  REQUIRE(spread(left, f.servers));
  REQUIRE(left.orphan());
  REQUIRE(eventually([&] { return f.servers.holding("r", left.owner_value()) == 3; }));
  f.servers.command({"DEL", "redlock:f:{r}"});
  InspectableLock behind{endpoints(f.nodes)};
  behind.skew_proposals(-24h);
  const auto adopted = behind.adopt({"r", left.owner_value(), left.fencing_token()});
  REQUIRE(adopted);
  CHECK(adopted->fencing_token() > left.fencing_token());
}

TEST_CASE("a_failed_adoption_does_not_shorten_the_lock_of_another_client") {
  Fixture f;
  auto left = f.leaver.lock("r", {.ttl = 30s}).value();
  const std::string owner = left.owner_value();
  REQUIRE(spread(left, f.servers));
  REQUIRE(left.orphan());
  REQUIRE(eventually([&] { return f.servers.holding("r", owner) == 3; }));
  f.nodes.pause(1);
  f.nodes.pause(2);
  CHECK(f.adopter.adopt({"r", owner, left.fencing_token()}, {.ttl = 50ms}).code() == Errc::no_quorum);
  f.nodes.resume(1);
  f.nodes.resume(2);
  REQUIRE(eventually([&] { return f.servers.holding("r", owner) == 3; }));
  std::this_thread::sleep_for(100ms);
  CHECK(f.servers.holding("r", owner) == 3);
  CHECK(is_granted(f.adopter.adopt({"r", owner, left.fencing_token()})));
}

TEST_CASE("a_lock_that_is_gone_cannot_be_adopted") {
  Fixture f;
  const auto refused = f.adopter.adopt({"r", "somebody", FencingToken{1}});
  CHECK(refused.code() == Errc::lost);
  using redlock::NodeStatus;
  CHECK(std::ranges::count(refused.nodes(), NodeStatus::free, &redlock::NodeReport::status) >= 2);
  CHECK(std::ranges::count(refused.nodes(), NodeStatus::held, &redlock::NodeReport::status) == 0);
  auto lease = f.leaver.lock("r").value();
  REQUIRE(spread(lease, f.servers));
  CHECK(f.adopter.adopt({"r", "somebody else", lease.fencing_token()}).code() == Errc::lost);
  // The nodes answer after they have executed the commands of the adoption.
  REQUIRE(f.adopter.inspect("r").size() == 3);
  CHECK(lease.valid());
  CHECK(f.servers.holding("r", lease.owner_value()) == 3);
  CHECK(lease.extend());
}

TEST_CASE("a_holder_whose_lock_is_adopted_loses_it_and_is_notified") {
  Fixture f;
  auto lease = f.leaver.lock("r", {.ttl = 3s}).value();
  const auto adopted = f.adopter.adopt({"r", lease.owner_value(), lease.fencing_token()}, {.ttl = 20s});
  REQUIRE(adopted);
  CHECK(lease.wait_lost(10s));
  CHECK(lease.loss() == Loss::taken);
  CHECK(adopted->valid());
  CHECK(eventually([&] { return f.servers.holding("r", adopted->owner_value()) == 3; }));
}

TEST_CASE("a_lock_without_a_token_is_adopted_without_one") {
  Fixture f;
  auto left = f.leaver.lock("r", {.fencing = false}).value();
  REQUIRE(left.orphan());
  const auto adopted = f.adopter.adopt({"r", left.owner_value()}, {.fencing = false});
  REQUIRE(adopted);
  CHECK_FALSE(adopted->fencing_token());
}

TEST_CASE("an_adopted_lock_renews_itself_and_reports_its_loss") {
  Fixture f;
  auto left = f.leaver.lock("r", {.ttl = 1s}).value();
  REQUIRE(left.orphan());
  const auto adopted = f.adopter.adopt({"r", left.owner_value(), left.fencing_token()}, {.ttl = 1s});
  REQUIRE(adopted);
  CHECK_FALSE(adopted->wait_lost(2500ms));
  f.servers.command({"DEL", "r"});
  CHECK(adopted->wait_lost(10s));
  CHECK(adopted->loss() == Loss::deleted);
}

TEST_CASE("a_lock_outlives_the_client_that_orphaned_it") {
  const LocalNodes nodes{3};
  std::string owner;
  FencingToken token;
  {
    Redlock gone{endpoints(nodes)};
    Lease lease = gone.lock("r").value();
    owner = lease.owner_value();
    token = lease.fencing_token();
    REQUIRE(lease.orphan());
  }
  CHECK(is_granted(Redlock{endpoints(nodes)}.adopt({"r", owner, token})));
}

TEST_CASE("invalid_adoption_arguments_are_refused_with_what_is_allowed") {
  Fixture f;
  const auto check = [&](const std::string& owner, std::uint64_t token, const LockOptions& options,
                         const std::string& words) {
    const Error error = error_of([&] {
      (void)f.adopter.adopt({"r", owner, FencingToken{token}}, options).value();
    });
    CHECK(error.code() == Errc::invalid_argument);
    CHECK_THAT(error.what(), contains(words));
  };
  check("", 1, {}, "the owner value has 0 bytes; allowed: 1 to 1024");
  check(std::string(1025, 'x'), 1, {}, "the owner value has 1025 bytes; allowed: 1 to 1024");
  check("redlock:kept", 1, {},
        "the owner value starts with \"redlock:\": nobody owns a lock with such a value");
  check("x", (std::uint64_t{1} << 53U) - 1, {},
        "the fencing token is 9007199254740991; allowed: 0 (no token) to 9007199254740990");
  check("x", 1, {.fencing = false}, "the lock to adopt has a fencing token; set fencing = true");
}
