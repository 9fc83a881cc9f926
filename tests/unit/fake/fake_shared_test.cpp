// Shared locks on nodes in memory.
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "fake/fake_node.hpp"
#include "redlock/core/wire/shared_scripts.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/fake_locks.hpp"
#include "support/catch.hpp"
#include "support/granted.hpp"
#include "unit/support/recording_outbox.hpp"

namespace {

using namespace redlock::core;
using namespace std::chrono_literals;
using redlock::Errc;
using redlock::FakeLocks;
using redlock::FakeNodeState;
using redlock::Lease;
using redlock::LockOptions;
using redlock::Loss;
using redlock::detail::FakeNode;
using redlock::testing::at;
using redlock::testing::is_granted;

const LockOptions reader{.ttl = 10s, .shared = true};
const std::string first = "1111111111111111 the first reader";
const std::string second = "2222222222222222 the second reader";

/// A node, and the scripts of readers of the lock `key`.
struct Node {
  Node() { node.set("counter", "100", never); }

  Reply run(const Script& script, FakeNode::Words values) {
    return call({"EVALSHA", std::string{script.sha1}, "3", "key", "counter", "set"}, values);
  }
  Reply grant(const std::string& owner, const std::string& proposal, const std::string& adopted = {},
              const std::string& ttl = "1000") {
    return run(shared_grant_script, {owner, ttl, proposal, "0", adopted});
  }
  Reply put_back(const std::string& owner, const std::string& token) {
    return run(shared_put_back_script, {owner, "1000", token, "0"});
  }
  Reply extend(const std::string& owner, const std::string& ttl = "1000") {
    return run(shared_extend_script, {owner, ttl, "0"});
  }
  Reply release(const std::string& owner) {
    return call({"EVALSHA", std::string{shared_release_script.sha1}, "2", "key", "set"}, {owner});
  }
  std::size_t readers() {
    const Reply readers = call({"EVAL", std::string{readers_source}, "1", "key"}, {"set"});
    CHECK(readers.elements.size() == 1 + static_cast<std::size_t>(readers.elements.at(0).integer));
    return readers.elements.size() - 1;
  }
  std::string value(const std::string& key) { return call({"GETRANGE", key, "0", "99"}, {}).text; }
  long long pttl(const std::string& key) { return call({"PTTL", key}, {}).integer; }
  long long readable() { return call({"EVAL", std::string{readable_source}, "1", "key"}, {}).integer; }

  Reply call(FakeNode::Words words, const FakeNode::Words& values) {
    words.insert(words.end(), values.begin(), values.end());
    return node.execute(words, {at(now), std::chrono::microseconds{1'795'442'531'000'000}});
  }

  FakeNode node{"id"};
  std::chrono::milliseconds now{};
};

}  // namespace

TEST_CASE("the_first_reader_of_a_fake_node_raises_the_counter_and_the_second_joins") {
  Node node;
  CHECK(node.grant(first, "105").integer == 105);
  CHECK(node.value("key") == "redlock:shared");
  CHECK(node.value("set:1111111111111111") == first);
  CHECK(node.readers() == 1);
  CHECK(node.grant(second, "110").integer == 105);
  CHECK(node.value("counter") == "105");
  CHECK(node.readers() == 2);
  CHECK(node.readable() == -2);
}

TEST_CASE("a_fake_node_grants_no_reader_beside_a_writer_or_behind_a_flag") {
  Node node;
  node.node.set("key", "writer", at(500ms));
  const Reply denied = node.grant(first, "105");
  REQUIRE(denied.elements.size() == 2);
  CHECK(denied.elements[0].text == "writer");
  CHECK(denied.elements[1].integer == 500);
  CHECK(node.readable() == 500);
  node.node.remove("key");
  node.node.set("flag", "1", at(300ms));
  const Reply behind = node.call({"EVALSHA", std::string{shared_grant_script.sha1}, "4", "key", "counter",
                                  "set", "flag", first, "1000", "105", "0", ""},
                                 {});
  REQUIRE(behind.elements.size() == 2);
  CHECK(behind.elements[0].text.empty());
  CHECK(behind.elements[1].integer == 300);
  CHECK(node.readers() == 0);
  CHECK(node.value("counter") == "100");
}

TEST_CASE("a_fake_node_makes_a_writer_a_reader") {
  Node node;
  node.node.set("key", "writer", at(500ms));
  CHECK(node.grant(first, "105", "another").elements.size() == 2);
  CHECK(node.grant(first, "105", "writer").integer == 105);
  CHECK(node.value("key") == "redlock:shared");
  CHECK(node.readers() == 1);
}

TEST_CASE("the_last_reader_of_a_fake_node_frees_the_lock") {
  Node node;
  static_cast<void>(node.grant(first, "105"));
  static_cast<void>(node.grant(second, "105"));
  CHECK(node.release(first).integer == 1);
  CHECK(node.release(first).integer == 0);
  CHECK(node.value("key") == "redlock:shared");
  CHECK(node.release(second).integer == 1);
  CHECK(node.value("key").empty());
  CHECK(node.readable() == -2);
  CHECK(node.grant(first, "0").integer == 106);
}

TEST_CASE("a_reader_of_a_fake_node_whose_copy_expired_does_not_keep_the_lock") {
  Node node;
  static_cast<void>(node.grant(first, "105"));
  node.now = 500ms;
  static_cast<void>(node.grant(second, "105"));
  node.now = 1000ms;
  CHECK(node.readers() == 1);
  CHECK(node.release(second).integer == 1);
  CHECK(node.value("key").empty());
}

TEST_CASE("a_lock_of_a_fake_node_outlives_none_of_its_readers") {
  Node node;
  static_cast<void>(node.grant(first, "105"));
  static_cast<void>(node.grant(second, "105", {}, "8000"));
  CHECK(node.pttl("key") == 8000);
  CHECK(node.release(second).integer == 1);
  CHECK(node.pttl("key") == 1000);
  static_cast<void>(node.grant(second, "105", {}, "500"));
  CHECK(node.release(second).integer == 1);
  CHECK(node.pttl("key") == 1000);
}

TEST_CASE("a_writer_of_a_fake_node_that_becomes_a_reader_keeps_the_lock_for_the_readers_ttl") {
  Node node;
  node.node.set("key", "writer", at(8s));
  CHECK(node.grant(first, "105", "writer").integer == 105);
  CHECK(node.pttl("key") == 1000);
}

TEST_CASE("a_fake_node_frees_no_lock_of_a_writer_when_a_reader_leaves") {
  Node node;
  static_cast<void>(node.grant(first, "105"));
  node.node.set("key", "writer", never);
  CHECK(node.extend(first).integer == -1);
  CHECK(node.release(first).integer == 0);
  CHECK(node.value("key") == "writer");
  CHECK(node.value("set:1111111111111111").empty());
}

TEST_CASE("a_fake_node_prolongs_the_copy_of_a_reader_and_the_lock") {
  Node node;
  static_cast<void>(node.grant(first, "105"));
  CHECK(node.extend(second).integer == 0);
  CHECK(node.extend(first, "3000").integer == 1);
  CHECK(node.pttl("key") == 3000);
  CHECK(node.pttl("set:1111111111111111") == 3000);
  CHECK(node.extend(first, "2000").integer == 1);
  CHECK(node.pttl("key") == 3000);
  node.node.remove("key");
  CHECK(node.extend(first).integer == 0);
}

TEST_CASE("a_fake_node_takes_a_reader_back_and_then_no_earlier_reader_counts") {
  Node node;
  static_cast<void>(node.grant(first, "105"));
  CHECK(node.put_back(first, "105").integer == 0);
  CHECK(node.put_back(second, "107").integer == 1);  // it joins
  CHECK(node.value("counter") == "107");
  CHECK(node.extend(first).integer == 1);
  node.node.remove("key");
  CHECK(node.put_back(second, "107").integer == 1);  // it opens the lock
  CHECK(node.value("counter") == "108");
  CHECK(node.readers() == 1);
  CHECK(node.extend(first).integer == 0);
  node.node.set("key", "writer", never);
  CHECK(node.put_back(first, "105").integer == 0);
}

TEST_CASE("fake_readers_share_a_lock_and_a_writer_waits_for_all_of_them") {
  FakeLocks locks;
  Lease one = locks.try_lock("r", reader).value();
  Lease other = locks.try_lock("r", reader).value();
  CHECK(one.fencing_token() == other.fencing_token());
  CHECK(readers_in(locks.inspect("r")).size() == 2);
  const redlock::LockResult writer = locks.try_lock("r");
  REQUIRE(writer.is_held());
  CHECK(writer.holder()->is_shared());
  one.release();
  CHECK(locks.try_lock("r").is_held());
  other.release();
  const Lease alone = locks.try_lock("r").value();
  CHECK(alone.fencing_token() > one.fencing_token());
  CHECK(locks.try_lock("r", reader).is_held());
  CHECK(locks.try_lock_for("r", 1min, reader).code() == Errc::timed_out);
}

TEST_CASE("fake_readers_are_renewed_and_learn_of_a_loss_from_a_renewal") {
  FakeLocks locks;
  std::vector<Loss> losses;
  LockOptions told = reader;
  told.on_lost = [&](Loss why) { losses.push_back(why); };
  const Lease deleted = locks.try_lock("deleted", told).value();
  const Lease taken = locks.try_lock("taken", told).value();
  locks.advance(1h);
  REQUIRE(losses.empty());
  locks.lose("deleted");
  locks.take("taken", 1h);
  CHECK(deleted.valid());
  locks.advance(5s);
  CHECK(deleted.loss() == Loss::deleted);
  CHECK(taken.loss() == Loss::taken);
  CHECK(losses.size() == 2);
}

TEST_CASE("in_the_delay_after_a_lost_reader_only_readers_get_the_lock_and_its_sequencer_is_valid") {
  FakeLocks locks;
  LockOptions delayed{.ttl = 10s, .lock_delay = 20s, .renewal = redlock::Renewal::none};
  delayed.shared = true;
  const Lease lost = locks.try_lock("r", delayed).value();
  locks.advance(11s);
  REQUIRE(lost.loss() == Loss::deadline_passed);
  CHECK(locks.try_lock("r").is_held());
  CHECK(locks.check(lost.sequencer()) == redlock::SequencerState::valid);
  locks.try_lock("r", reader).value().release();
  CHECK(locks.try_lock("r").is_held());
  locks.advance(20s);
  CHECK(locks.check(lost.sequencer()) == redlock::SequencerState::stale);
  CHECK(is_granted(locks.try_lock("r")));
}

TEST_CASE("a_fake_node_says_by_a_negative_number_that_broken_owners_were_readers") {
  Node node;
  const auto broken = [&](const FakeNode::Words& owners) {
    FakeNode::Words words{"EVAL", break_source(), "1", "key", "set"};
    return node.call(words, owners).integer;
  };
  node.grant(first, "5000");
  node.grant(second, "5000");
  CHECK(broken({first, second}) == -2);
  CHECK(node.readers() == 0);
  CHECK(broken({first}) == 0);
  node.node.set("key", first, never);
  CHECK(broken({second, first}) == 1);
}

TEST_CASE("a_fake_reader_spreads_to_a_node_that_was_away") {
  FakeLocks locks;
  locks.set_node(2, FakeNodeState::refusing);
  const Lease lease = locks.try_lock("r", {.ttl = 3s, .shared = true}).value();
  locks.set_node(2, FakeNodeState::working);
  locks.advance(10s);
  locks.set_node(0, FakeNodeState::refusing);
  locks.advance(10s);
  CHECK(lease.valid());
  CHECK(locks.try_lock("r").is_held());
}

TEST_CASE("a_fake_writer_becomes_a_reader") {
  FakeLocks locks;
  Lease writer = locks.try_lock("r").value();
  const Lease lease = locks.downgrade(std::move(writer), reader).value();
  CHECK(locks.try_lock("r").is_held());
  CHECK(is_granted(locks.try_lock("r", reader)));
  CHECK(lease.valid());
}

TEST_CASE("every_fake_reader_is_asked_to_give_the_lock_up") {
  FakeLocks locks;
  std::vector<std::string> reasons;
  LockOptions asked = reader;
  asked.on_revoke = [&](std::string_view why) { reasons.emplace_back(why); };
  const Lease one = locks.try_lock("r", asked).value();
  const Lease other = locks.try_lock("r", asked).value();
  locks.advance(1s);
  locks.revoke("r", "a writer waits");
  locks.advance(1ms);
  CHECK(reasons == std::vector<std::string>{"a writer waits", "a writer waits"});
  CHECK(one.valid());
  CHECK(other.valid());
}

TEST_CASE("a_fake_sequencer_of_a_reader_is_valid_until_its_release") {
  FakeLocks locks;
  Lease lease = locks.try_lock("r", reader).value();
  const Lease other = locks.try_lock("r", reader).value();
  CHECK(lease.sequencer().is_shared());
  CHECK(locks.check(lease.sequencer()) == redlock::SequencerState::valid);
  lease.release();
  CHECK(locks.check(lease.sequencer()) == redlock::SequencerState::stale);
}

TEST_CASE("a_shared_mutex_over_fake_locks_admits_readers_or_a_writer") {
  FakeLocks locks;
  redlock::SharedMutex mutex{locks, "r"};
  redlock::SharedMutex other{locks, "r"};
  {
    const std::shared_lock mine{mutex};
    const std::shared_lock its{other};
    CHECK(mutex.lease()->owner_value() != other.lease()->owner_value());
  }
  const std::unique_lock writer{mutex};
  CHECK_FALSE(other.try_lock_shared());
  CHECK_FALSE(other.try_lock());
}
