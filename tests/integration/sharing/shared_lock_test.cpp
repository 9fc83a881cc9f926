// Shared locks on real servers: readers beside each other, a writer alone, also if it is another Redlock client.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/sharing/reach_all_readers.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::Lease;
using redlock::LockOptions;
using redlock::NodeStatus;
using redlock::Redlock;
using redlock::Release;
using State = redlock::SequencerState;

const LockOptions reader{.ttl = 60s, .shared = true, .renewal = redlock::Renewal::none};
const LockOptions writer{.ttl = 60s, .renewal = redlock::Renewal::none};

/// The keys of the server without those of the restart guard.
std::vector<std::string> keys_of(RawClient& server) {
  std::vector<std::string> keys = server.keys();
  std::erase_if(keys, [](const std::string& key) { return key.ends_with("redlock:node"); });
  return keys;
}

}  // namespace

TEST_CASE("the_lock_lives_no_longer_than_the_longest_reader_that_is_left") {
  TwoClients f;
  LockOptions brief = reader;
  brief.ttl = 20s;
  const auto lives = [&](const char* key) { return f.servers[0].pttl(key); };
  Lease longest = f.locks.try_lock("r", reader).value();
  Lease shorter = f.others.try_lock("r", brief).value();
  REQUIRE(eventually([&] { return lives("redlock:s:{r}") > 20'000; }));
  CHECK(longest.release() == Release::released);
  for (const char* const key : {"r", "redlock:s:{r}"})
    CHECK(eventually([&] { return lives(key) > 0 && lives(key) <= 20'000; }));
  CHECK(shorter.release() == Release::released);

  Lease former = f.locks.try_lock("r", writer).value();
  const Lease downgraded = f.locks.downgrade(std::move(former), brief).value();
  CHECK(eventually([&] { return lives("r") > 0 && lives("r") <= 20'000; }));
}

TEST_CASE("readers_hold_the_lock_together_and_the_writer_alone") {
  TwoClients f;
  std::vector<Lease> readers;
  for (int pair = 0; pair < 4; ++pair) {
    readers.push_back(f.locks.try_lock("r", reader).value());
    readers.push_back(f.others.try_lock("r", reader).value());
  }
  redlock::FencingToken greatest;  // mostly they share one
  for (const Lease& each : readers) {
    CHECK(each.valid());
    greatest = std::max(greatest, each.fencing_token());
  }
  CHECK(f.locks.try_lock("r", writer).is_held());
  CHECK(f.others.try_lock_for("r", 30ms, writer).code() == Errc::timed_out);
  while (readers.size() > 1) {
    CHECK(readers.back().release() == Release::released);
    readers.pop_back();
    CHECK(f.others.try_lock("r", writer).is_held());
  }
  CHECK(readers.back().release() == Release::released);
  Lease alone = f.others.try_lock_for("r", 20s, writer).value();
  CHECK(alone.fencing_token() > greatest);
  CHECK(f.locks.try_lock("r", reader).is_held());
  CHECK(alone.release() == Release::released);
  CHECK(f.locks.try_lock_for("r", 20s, reader).value().fencing_token() > alone.fencing_token());
}

TEST_CASE("another_redlock_client_excludes_readers_and_is_excluded_by_them") {
  TwoClients f;
  reach_all_readers(f.locks, f.servers);
  const std::vector<std::string> set{"SET", "r", "somebody", "NX", "PX", "60000"};
  {
    const Lease lease = f.locks.lock("r", reader).value();
    REQUIRE(eventually([&] { return f.servers.having("r") == 3; }));
    for (RawClient& server : f.servers) CHECK(server.command(set) == "(nil)");
  }
  REQUIRE(eventually([&] { return f.servers.having("r") == 0; }));
  for (RawClient& server : f.servers) CHECK(server.command(set) == "OK");
  const redlock::LockResult denied = f.locks.try_lock("r", reader);
  REQUIRE(denied.is_held());
  CHECK(denied.holder()->owner_value == "somebody");
  CHECK(f.servers.holding("r", "somebody") == 3);
  CHECK(keys_of(f.servers[0]) == std::vector<std::string>{"r", "redlock:f:{r}"});
}

TEST_CASE("readers_and_writers_need_only_a_majority_of_the_nodes") {
  LocalNodes nodes{5};
  Redlock locks{endpoints(nodes)};
  Redlock others{endpoints(nodes)};
  Observers servers{nodes};
  reach_all_readers(locks, servers);
  reach_all_readers(others, servers);
  Lease first = locks.lock("r", reader).value();
  nodes.kill(1);
  nodes.kill(3);
  CHECK(first.extend());
  Lease second = others.try_lock("r", reader).value();
  CHECK(others.try_lock("r", writer).is_held());
  CHECK(first.release() == Release::released);
  CHECK(others.try_lock("r", writer).is_held());
  CHECK(second.release() == Release::released);
  Lease alone = locks.lock("r", writer).value();
  CHECK(alone.fencing_token() > second.fencing_token());
  CHECK(others.try_lock("r", reader).is_held());
  nodes.kill(0);
  CHECK(others.try_lock("other", reader).code() == Errc::no_quorum);
}

TEST_CASE("nothing_but_the_counter_is_left_of_readers") {
  TwoClients f;
  {
    const Lease first = f.locks.lock("r", reader).value();
    const Lease second = f.others.lock("r", reader).value();
    CHECK(f.locks.try_lock("r", writer).is_held());
    CHECK_FALSE(is_granted(f.others.try_lock_for("r", 20ms, writer)));
  }
  for (RawClient& server : f.servers)
    CHECK(eventually([&] { return keys_of(server) == std::vector<std::string>{"redlock:f:{r}"}; }));
}

TEST_CASE("the_keys_of_readers_have_the_prefix_and_the_hash_tag_of_the_lock") {
  const std::string resource = GENERATE("r", "{user}:7", "brace{", "brace}", "{}", "a b\n%");
  CAPTURE(resource);
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), {.key_prefix = "app:"}};
  Redlock elsewhere{endpoints(nodes), {.key_prefix = "other:"}};
  Lease lease = locks.lock(resource, reader).value();
  const std::string key = "app:" + resource;
  const bool is_tagged = resource == "{user}:7";
  const std::string set = is_tagged ? "redlock:st:" + key : "redlock:s:{" + key + "}";
  REQUIRE(lease.extend());  // a node that learned the script too late gets its copy now
  CHECK(eventually([&] { return servers.holding(key, "redlock:shared") == 3; }));
  CHECK(servers.holding(set + ":" + lease.owner_value().substr(0, 16), lease.owner_value()) == 3);
  CHECK(servers[0].command({"SMEMBERS", set}) == "[" + lease.owner_value().substr(0, 16) + "]");
  CHECK(servers[0].pttl(set) > 0);
  CHECK(locks.try_lock(resource, writer).is_held());
  CHECK(is_granted(elsewhere.try_lock(resource, writer)));
  CHECK(readers_in(locks.inspect(resource)).size() == 1);
  CHECK(locks.check(lease.sequencer()) == State::valid);
  CHECK(lease.extend());
  CHECK(lease.release() == Release::released);
  CHECK(eventually([&] { return servers.having(key) + servers.having(set) == 0; }));
}

TEST_CASE("a_single_node_lock_is_shared_alike") {
  LocalNodes nodes{1};
  redlock::SingleNodeLock locks{redlock::Endpoint{nodes.url(0)}};
  const Lease first = locks.lock("r", reader).value();
  const Lease second = locks.lock("r", reader).value();
  CHECK(locks.try_lock("r", writer).is_held());
  CHECK(first.valid());
  CHECK(second.valid());
}

TEST_CASE("servers_that_forget_the_scripts_of_shared_locks_learn_them_again") {
  TwoClients f;
  const auto forget = [&] { f.servers.command({"SCRIPT", "FLUSH"}); };
  forget();
  Lease lease = f.locks.lock("r", reader).value();
  forget();
  CHECK(lease.extend());
  forget();
  Lease other = f.others.lock("r", reader).value();
  forget();
  CHECK(lease.release() == Release::released);
  forget();
  CHECK(other.release() == Release::released);
  CHECK(eventually([&] { return f.servers.empty() == 3; }));
  Lease alone = f.locks.try_lock_for("r", 20s, writer).value();
  forget();
  CHECK(f.locks.downgrade(std::move(alone), reader).value().valid());
}

TEST_CASE("an_inspection_shows_the_readers") {
  TwoClients f;
  reach_all_readers(f.locks, f.servers);
  reach_all_readers(f.others, f.servers);
  LockOptions labelled = reader;
  labelled.label = "first";
  const Lease first = f.locks.lock("r", labelled).value();
  labelled.label = "second";
  const Lease second = f.others.lock("r", labelled).value();
  std::vector<redlock::NodeReport> reports;
  REQUIRE(eventually([&] {
    reports = f.locks.inspect("r");
    return readers_in(reports).size() == 2 && reports[0].readers.size() == 2 &&
           reports[2].readers.size() == 2;
  }));
  CHECK(holder_of(reports)->is_shared());
  std::vector<std::string> labels;
  for (const redlock::Holder& holder : readers_in(reports)) labels.push_back(holder.label);
  std::sort(labels.begin(), labels.end());
  CHECK(labels == std::vector<std::string>{"first", "second"});
  for (const redlock::NodeReport& report : reports) CHECK(report.status == NodeStatus::held);
  const Lease alone = f.locks.lock("other", writer).value();
  CHECK(readers_in(f.others.inspect("other")).empty());
}

TEST_CASE("every_reader_is_asked_to_give_the_lock_up") {
  TwoClients f;
  std::mutex mutex;
  std::vector<std::string> reasons;
  LockOptions asked = reader;
  asked.on_revoke = [&](std::string_view why) {
    const std::lock_guard lock{mutex};
    reasons.emplace_back(why);
  };
  const Lease first = f.locks.lock("r", asked).value();
  const Lease second = f.others.lock("r", asked).value();
  const Lease third = f.others.lock("r", asked).value();
  f.locks.revoke("r", "a writer waits");
  CHECK(eventually([&] {
    const std::lock_guard lock{mutex};
    return reasons == std::vector<std::string>(3, "a writer waits");
  }));
  CHECK(first.valid());
  CHECK(second.valid());
}

TEST_CASE("a_sequencer_of_a_reader_is_valid_until_the_end_of_its_lease") {
  TwoClients f;
  Lease first = f.locks.lock("r", reader).value();
  const Lease second = f.others.lock("r", reader).value();
  const auto sequencer = redlock::Sequencer::parse(first.sequencer().to_string());
  CHECK(sequencer.is_shared());
  CHECK(sequencer.token() == first.fencing_token());
  CHECK(f.others.check(sequencer) == State::valid);
  first.release();
  CHECK(f.others.check(sequencer) == State::stale);
  CHECK(f.locks.check(second.sequencer()) == State::valid);
}

TEST_CASE("several_locks_are_shared_at_once") {
  TwoClients f;
  redlock::Leases first = f.locks.lock_all({"b", "a"}, reader).value();
  redlock::Leases second = f.others.try_lock_all({"a", "b", "c"}, reader).value();
  CHECK(first.valid());
  CHECK(second.valid());
  CHECK(f.others.try_lock("a", writer).is_held());
  CHECK(f.others.try_lock_all({"c", "d"}, writer).code() == Errc::held);
  CHECK(first.release() == Release::released);
  CHECK(second.release() == Release::released);
  CHECK(eventually([&] { return f.servers.empty() == 3; }));
}

TEST_CASE("options_that_a_shared_lock_cannot_have_are_refused") {
  LocalNodes nodes{1};
  Redlock locks{endpoints(nodes)};
  const auto check = [&](const LockOptions& options, const std::string& words) {
    const redlock::LockResult result = locks.try_lock("r", options);
    CHECK(result.code() == Errc::invalid_argument);
    CHECK_THAT(result.message(), contains(words));
  };
  check({.at_least = 1s, .shared = true}, "shared and at_least");
  check({.seats = 2, .shared = true}, "shared and seats");
  check({.shared = true, .fencing = false}, "fencing is false");
  CHECK(locks.adopt({"r", "somebody"}, {.shared = true}).code() == Errc::invalid_argument);
  Lease lease = locks.lock("r", reader).value();
  CHECK_THROWS_AS(lease.orphan(), redlock::Error);
  CHECK(lease.release() == Release::released);
}
