// The scripts of the node in memory that only nodes need which were away for a while.
#include <chrono>
#include <redlock/redlock.hpp>
#include <redlock/testing/fake_locks.hpp>
#include <string>

#include "fake/fake_node.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "support/catch.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::FakeLocks;
using redlock::FakeNodeState;
using redlock::detail::FakeNode;
using redlock::testing::at;

constexpr long long clock_of_node = 1'795'442'531'000'000;

/// A node at which `owner` has the lock `key`, by a grant of the token 100.
struct Granted {
  Granted() { node.set("counter", "99", never), run(grant_script, {"100", "0", ""}, "1000"); }

  /// Runs a script on the lock and its counter. `ttl`: the second argument, of the scripts that have one.
  Reply run(const Script& script, FakeNode::Words more, const std::string& ttl = {},
            const std::string& owner = "owner") {
    FakeNode::Words words{"EVALSHA", std::string{script.sha1}, "2", "key", "counter", owner};
    if (!ttl.empty()) words.push_back(ttl);
    words.insert(words.end(), more.begin(), more.end());
    return node.execute(words, {at(0ms), std::chrono::microseconds{clock_of_node}});
  }
  std::string value(const std::string& key) {
    return node.execute({"GETRANGE", key, "0", "99"}, {at(0ms), {}}).text;
  }

  FakeNode node{"id"};
};

}  // namespace

TEST_CASE("a_fake_node_confirms_a_token_to_the_owner_whose_counter_has_not_changed_since") {
  Granted one;
  REQUIRE(one.value("counter") == "100");
  CHECK(one.run(confirm_script, {"100", "105", "0"}, {}, "another").integer == 0);
  CHECK(one.run(confirm_script, {"99", "105", "0"}).integer == 0);
  CHECK(one.value("counter") == "100");
  CHECK(one.run(confirm_script, {"100", "105", "0"}).integer == 1);
  CHECK(one.value("counter") == "105");
  CHECK(one.run(confirm_script, {"100", "105", "0"}).integer == 0);
}

TEST_CASE("a_fake_node_raises_no_counter_to_more_than_two_days_ahead_of_its_clock") {
  const std::string latest = std::to_string(clock_of_node + 2 * 86'400'000'000);
  const std::string too_late = std::to_string(clock_of_node + 2 * 86'400'000'000 + 1);
  Granted one;
  CHECK(one.run(confirm_script, {"100", too_late, "0"}).integer == -1);
  CHECK(one.value("counter") == "100");
  CHECK(one.run(confirm_script, {"100", latest, "0"}).integer == 1);
  Granted other;
  other.node.remove("key");
  CHECK(other.run(put_back_script, {too_late, "0"}, "1000").integer == -1);
  CHECK(other.value("key").empty());
  CHECK(other.value("counter") == "100");
}

TEST_CASE("a_fake_node_takes_a_copy_back_if_there_is_none_and_never_lowers_its_counter") {
  Granted one;
  CHECK(one.run(put_back_script, {"105", "0"}, "1000", "another").integer == 0);
  CHECK(one.value("key") == "owner");
  CHECK(one.value("counter") == "100");
  one.node.remove("key");
  CHECK(one.run(put_back_script, {"90", "0"}, "1000").integer == 1);
  CHECK(one.value("key") == "owner");
  CHECK(one.value("counter") == "100");
  one.node.remove("key");
  CHECK(one.run(put_back_script, {"105", "0"}, "1000").integer == 1);
  CHECK(one.value("counter") == "105");
}

TEST_CASE("a_fake_lease_spreads_to_a_node_that_was_away_and_outlasts_one_of_its_first_nodes") {
  FakeLocks locks;
  locks.set_node(2, FakeNodeState::refusing);
  const redlock::Lease lease = locks.try_lock("r", {.ttl = 3s}).value();
  locks.set_node(2, FakeNodeState::working);
  locks.advance(10s);
  locks.set_node(0, FakeNodeState::refusing);
  locks.advance(10s);
  CHECK(lease.valid());
  locks.set_node(1, FakeNodeState::refusing);
  locks.advance(10s);
  CHECK(lease.loss() == redlock::Loss::no_quorum);
}

TEST_CASE("a_fake_node_keeps_a_released_lock_for_the_time_that_was_asked_for") {
  Granted one;
  CHECK(one.run(release_script, {}, "100", "another").integer == 0);
  CHECK(one.run(release_script, {}, "100").integer == 1);
  CHECK(one.value("key") == "redlock:kept");
  CHECK(one.run(release_script, {}).integer == 0);
  CHECK(one.run(extend_script, {"0"}, "5000").integer == -1);
  CHECK(one.node.execute({"PTTL", "key"}, {at(0ms), {}}).integer == 100);
  CHECK(one.node.execute({"PTTL", "key"}, {at(100ms), {}}).integer == -2);
}
