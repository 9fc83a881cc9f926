// What needs the rules of several features, and what a user sees who has few of them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "tool/acl/limited_user.hpp"
#include "tool/acl/rules.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Election;
using redlock::Lease;
using redlock::LockOptions;
using redlock::NodeReport;
using redlock::NodeStatus;
using redlock::Order;
using redlock::Redlock;
using redlock::Renewal;
using redlock::tool::acl_rules;
using redlock::tool::Feature;

/// A lock with a token, for which somebody waits, and a lock of a reader.
struct Shown {
  explicit Shown(LimitedUser& of) : f{of} {
    WaitingLine line{f.nodes, f.key("r")};
    REQUIRE(eventually([&] { return line.length() == 1; }));
  }
  ~Shown() { stop.request_stop(); }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;

  LimitedUser& f;
  Lease lease = f.others.try_lock("r").value();
  Lease reader = f.others.try_lock("s", {.shared = true}).value();
  std::stop_source stop;
  std::future<bool> waiting = std::async(std::launch::async, [this] {
    return is_granted(f.others.try_lock_for("r", 60s, {}, stop.get_token()));
  });
};

/// Two readers who extend their leases, and are asked to end by a third client. A writer then waits for them in line.
void share_under_all_rules(LimitedUser& f) {
  Redlock locks = f.client();
  std::atomic<int> asked = 0;
  const LockOptions options{.ttl = 4s, .shared = true, .on_revoke = [&](std::string_view) { ++asked; }};
  Lease first = locks.try_lock("s", options).value();
  Lease second = locks.try_lock("s", options).value();
  const redlock::Clock::time_point begin = second.deadline();
  CHECK(eventually([&] { return second.deadline() > begin; }));
  Redlock asking = f.client();
  asking.revoke("s");
  CHECK(redlock::reader_count_in(asking.inspect("s")) == 2);
  CHECK(eventually([&] { return asked == 2; }));
  WaitingLine line{f.nodes, f.key("s")};
  auto got = std::async(std::launch::async, [&] { return is_granted(asking.try_lock_for("s", 60s)); });
  CHECK(eventually([&] { return line.length() == 1; }));
  CHECK(first.release() == redlock::Release::released);
  CHECK(second.release() == redlock::Release::released);
  CHECK(got.get());
}

}  // namespace

TEST_CASE("a_user_with_the_rules_of_tokens_and_renewal_can_observe_an_election_and_is_refused_nothing") {
  LimitedUser f{some_prefix()};
  f.allow(acl_rules({Feature::fenced, Feature::renewed}, f.prefix));
  Redlock locks = f.client(std::nullopt);
  Election election{locks, "r", "a", {.order = Order::none}};
  std::atomic<std::uint64_t> token{0};
  const redlock::Observation observation = election.observe(
      [&](const std::optional<redlock::Leader>& leader) { token = leader ? leader->token.value() : 0; });
  Lease lease = election.try_campaign().value();
  CHECK(eventually([&] { return token == lease.fencing_token().value(); }));
  CHECK(f.refusals().empty());
  CHECK(election.leader() == redlock::Leader{"a", lease.fencing_token()});  // asks for the line too, in vain
  CHECK(lease.release() == redlock::Release::released);
  CHECK(eventually([&] { return token == 0U; }));
}

TEST_CASE("a_user_with_the_rules_that_are_printed_by_default_is_refused_nothing") {
  LimitedUser f{some_prefix()};
  f.allow(acl_rules({Feature::waiting, Feature::shared, Feature::renewed}, f.prefix));
  share_under_all_rules(f);
  Redlock locks = f.client();
  Redlock rival = f.client();
  Lease leader = Election{locks, "e", "a"}.campaign().value();
  WaitingLine line{f.nodes, f.key("e")};
  auto next = std::async(std::launch::async, [&] {
    return is_granted(Election{rival, "e", "b"}.campaign());
  });
  CHECK(eventually([&] { return line.length() == 1; }));
  CHECK(leader.release() == redlock::Release::released);
  CHECK(next.get());
  redlock::Semaphore semaphore{locks, "gpu", 2};
  semaphore.acquire();
  semaphore.acquire();
  CHECK_FALSE(semaphore.try_acquire());
  CHECK(f.refusals().empty());
}

TEST_CASE("a_user_who_may_not_see_more_of_a_lock_is_shown_who_has_it") {
  LimitedUser f{some_prefix()};
  const Shown shown{f};
  for (const Feature feature : redlock::tool::all_features) {
    CAPTURE(f.prefix, name_of(feature));
    f.give(acl_rules({feature}, f.prefix));
    Redlock locks = f.client();
    const NodeReport lock = locks.inspect("r").at(0);
    CHECK(lock.status == NodeStatus::held);
    CHECK(lock.owner == shown.lease.owner_value());
    CHECK(lock.ttl.has_value());
    CHECK(locks.check(shown.lease.sequencer()) == redlock::SequencerState::valid);
    const bool is_operator = feature == Feature::operating;
    const bool sees_tokens = is_operator || f.prefix.empty() || feature == Feature::fenced ||
                             feature == Feature::shared;  // without a prefix, all keys are the user's
    CHECK(lock.counter == (sees_tokens ? std::optional{shown.lease.fencing_token()} : std::nullopt));
    CHECK(lock.line.size() == (is_operator || feature == Feature::waiting ? 1 : 0));
    const NodeReport readers = locks.inspect("s").at(0);
    CHECK(readers.status == NodeStatus::held);
    const bool sees_readers = is_operator || feature == Feature::shared;
    CHECK(readers.reader_count == (sees_readers ? 1 : 0));
    CHECK(locks.check(shown.reader.sequencer()) ==
          (sees_readers ? redlock::SequencerState::valid : redlock::SequencerState::unknown));
    CHECK(f.has_refused() == !is_operator);
  }
}

TEST_CASE("a_user_with_the_rules_of_plain_locks_can_begin_a_deployment") {
  LimitedUser f{some_prefix(), 3};
  f.allow(acl_rules({Feature::plain}, f.prefix));
  for (RawClient& server : f.servers) REQUIRE(server.command({"FLUSHALL"}) == "OK");
  Redlock locks = f.client();
  CHECK(is_granted(locks.try_lock("r", {.fencing = false, .renewal = Renewal::none, .order = Order::none})));
  const std::string marker = f.prefix.empty() ? "redlock:node" : "redlock:node:" + f.prefix;
  CHECK(eventually([&] { return f.servers.having(marker) == 3; }));
  CHECK(f.refusals().empty());
}

TEST_CASE("a_node_that_forgot_a_lock_gets_it_back_by_the_rules_of_renewal") {
  LimitedUser f{some_prefix(), 3};
  for (const bool shared : {false, true}) {
    CAPTURE(f.prefix, shared);
    const Feature kind = shared ? Feature::shared : Feature::fenced;
    f.allow(acl_rules({kind, Feature::renewed}, f.prefix));
    Redlock locks = f.client();
    // The counters differ, so a second round has to agree on the token.
    for (std::size_t node = 0; node < 3; ++node)
      f.servers[node].command({"SET", f.companion("f", "r"), std::to_string(1000 * (node + 1))});
    Lease lease =
        locks.try_lock("r", {.shared = shared, .renewal = Renewal::none, .order = Order::none}).value();
    REQUIRE(eventually([&] { return f.servers.having(f.key("r")) == 3; }));
    for (std::string& key : f.server.keys())
      if (!key.starts_with("redlock:node")) f.server.del(key);
    CHECK(lease.extend());
    CHECK(eventually([&] { return f.servers.having(f.key("r")) == 3; }));
    CHECK(lease.release() == redlock::Release::released);
    CHECK(f.refusals().empty());
  }
}
