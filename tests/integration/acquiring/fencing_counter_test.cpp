// Counters that are ahead, behind, missing, invalid or at the end of their range, and wrong clocks.
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "integration/support/all_nodes.hpp"
#include "integration/support/measure.hpp"
#include "integration/support/observers.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/inspectable_lock.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::Lease;
using redlock::NodeStatus;
using redlock::Redlock;
using redlock::Release;

constexpr std::uint64_t last = 9'007'199'254'740'991;  // 2^53 - 1
const std::string counter_key = "redlock:f:{r}";

struct Fixture {
  explicit Fixture(int count = 3) : nodes{count}, servers{nodes}, locks{endpoints(nodes)} {
    reach_all(locks, servers);
  }

  void set_counters(const std::string& value) { servers.command({"SET", counter_key, value}); }
  /// Takes a lock and returns its token. Afterwards the lock is released on all nodes.
  std::uint64_t token() {
    const std::uint64_t value = locks.lock("r").value().fencing_token().value();
    REQUIRE(eventually([&] { return locks.pending() == 0; }));  // nodes beyond the majority have answered too
    REQUIRE(servers.empty() == static_cast<int>(servers.size()));
    return value;
  }
  std::uint64_t counter(std::size_t node) {
    return std::stoull(servers[node].get(counter_key).value_or("0"));
  }
  std::uint64_t greatest_counter() {
    std::uint64_t greatest = 0;
    for (std::size_t node = 0; node < servers.size(); ++node) greatest = std::max(greatest, counter(node));
    return greatest;
  }

  LocalNodes nodes;
  Observers servers;
  InspectableLock locks;
};

std::uint64_t now_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace

TEST_CASE("a_token_is_the_counter_of_a_majority_and_survives_extension_and_release") {
  Fixture f{5};
  Lease lease = f.locks.lock("r").value();
  const std::uint64_t token = lease.fencing_token().value();
  CHECK(token <= now_us());
  CHECK(token > now_us() - 60'000'000);
  REQUIRE(eventually([&] { return f.servers.holding(counter_key, std::to_string(token)) == 5; }));
  REQUIRE(lease.extend());
  CHECK(lease.fencing_token().value() == token);
  REQUIRE(lease.release() == Release::released);
  CHECK(lease.fencing_token().value() == token);
  CHECK(f.servers.holding(counter_key, std::to_string(token)) == 5);
  CHECK(f.token() > token);
}

TEST_CASE("a_lock_with_a_token_takes_one_command_per_node_while_the_counters_agree") {
  Fixture f{5};
  REQUIRE(f.token() > 0);
  f.servers.command({"CONFIG", "RESETSTAT"});
  const Lease lease =
      f.locks.lock("r", {.renewal = redlock::Renewal::none}).value();  // so that nothing more is sent
  REQUIRE(eventually([&] { return f.servers.calls("set") == 10; }));
  // This includes the commands of the script: reads of the marker, EXISTS of quarantine and flag, GET of the counter, and SET of both keys.
  for (RawClient& server : f.servers) {
    const auto calls = server.all_calls();
    CHECK(calls == std::map<std::string, std::uint64_t>{{"config|resetstat", 1},
                                                        {"evalsha", 1},
                                                        {"exists", 1},
                                                        {"get", 1},
                                                        {"getrange", 1},
                                                        {"info", calls.at("info")},
                                                        {"set", 2}});
  }
}

TEST_CASE("a_lock_without_fencing_has_no_counter_and_no_token") {
  Fixture f;
  const auto lease = f.locks.try_lock("r", {.fencing = false});
  REQUIRE(lease);
  CHECK(lease->fencing_token() == redlock::FencingToken{});
  REQUIRE(eventually([&] { return f.servers.holding("r", lease->owner_value()) == 3; }));
  for (RawClient& server : f.servers) CHECK(server.keys() == std::vector<std::string>{"r", "redlock:node"});
}

TEST_CASE("a_lock_without_fencing_and_without_the_restart_guard_is_a_plain_set") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), {.restart_guard = redlock::RestartGuard::off}};
  const auto lease = locks.try_lock("r", {.fencing = false});
  REQUIRE(lease);
  CHECK(lease->fencing_token() == redlock::FencingToken{});
  REQUIRE(eventually([&] { return servers.holding("r", lease->owner_value()) == 3; }));
  for (RawClient& server : servers) CHECK(server.keys() == std::vector<std::string>{"r"});
  CHECK(servers.calls("evalsha") == 0);
}

TEST_CASE("a_counter_ahead_of_the_clock_continues_from_its_value") {
  Fixture f;
  const std::uint64_t ahead = now_us() + 10'000'000'000;
  SECTION("on all nodes") { f.set_counters(std::to_string(ahead)); }
  SECTION("on a majority") {
    for (const std::size_t node : {0U, 2U})
      f.servers[node].command({"SET", counter_key, std::to_string(ahead)});
  }
  const std::uint64_t token = f.token();
  CHECK(token == ahead + 1);
  CHECK(f.token() > token);
}

TEST_CASE("a_second_round_aligns_counters_that_disagree") {
  Fixture f;
  const std::uint64_t ahead = now_us() + 10'000'000'000;
  for (const std::size_t node : {0U, 1U, 2U})
    f.servers[node].command({"SET", counter_key, std::to_string(ahead + 10 * node)});
  const Lease lease = f.locks.lock("r").value();
  const std::uint64_t token = lease.fencing_token().value();
  CHECK(token >= ahead + 11);
  CHECK(token <= ahead + 21);
  int acknowledged = 0;
  for (std::size_t node = 0; node < 3; ++node) acknowledged += f.counter(node) == token ? 1 : 0;
  CHECK(acknowledged >= 2);
}

TEST_CASE("a_missing_counter_starts_at_the_clock") {
  Fixture f;
  const std::uint64_t before = f.token();
  SECTION("on one node") { f.servers[1].command({"DEL", counter_key}); }
  SECTION("on all") { f.servers.command({"DEL", counter_key}); }
  CHECK(f.token() > before);
}

TEST_CASE("a_counter_that_is_not_a_number_on_a_majority_is_misconfigured_and_leaves_no_lock") {
  Fixture f;
  const std::string value =
      GENERATE(as<std::string>{}, "many", "", "-1", "1.5", "9007199254740991", "1e300", "nan", "inf");
  CAPTURE(value);
  f.set_counters(value);
  const redlock::Error error = error_of([&] { (void)f.locks.try_lock("r").value(); });
  CHECK(error.code() == Errc::misconfigured);
  int named = 0;
  for (const redlock::NodeReport& report : error.nodes())
    named += report.status == NodeStatus::bad_counter ? 1 : 0;
  CHECK(named >= 2);
  CHECK_THAT(error.what(),
             contains("bad counter (BADCOUNTER redlock:f:{r} is not a whole number from 0 to 2^53-2"));
  CHECK(f.servers.empty() == 3);
  CHECK(f.servers.holding(counter_key, value) == 3);
}

TEST_CASE("a_counter_of_another_type_on_a_majority_is_misconfigured_and_leaves_no_lock") {
  Fixture f;
  f.servers.command({"RPUSH", counter_key, "7"});
  const redlock::Error error = error_of([&] { (void)f.locks.try_lock("r").value(); });
  CHECK(error.code() == Errc::misconfigured);
  CHECK_THAT(error.what(), contains("bad counter (BADCOUNTER redlock:f:{r}"));
  CHECK(f.servers.empty() == 3);
}

TEST_CASE("a_read_only_counter_on_a_majority_is_misconfigured_and_leaves_no_lock") {
  Fixture f;
  f.servers.command({"ACL", "SETUSER", "default", "resetkeys", "~r", "%R~redlock:f:*"});
  const redlock::Error error = error_of([&] { (void)f.locks.try_lock("r").value(); });
  CHECK(error.code() == Errc::misconfigured);
  CHECK(f.servers.empty() == 3);
}

TEST_CASE("a_bad_counter_on_a_minority_does_not_prevent_locking") {
  Fixture f;
  f.servers[1].command({"SET", counter_key, "many"});
  const std::uint64_t token = f.token();
  CHECK(f.token() > token);
  CHECK(f.servers[1].get(counter_key) == "many");
}

TEST_CASE("the_last_token_is_granted_exactly_once") {
  Fixture f;
  f.set_counters(std::to_string(last - 1));
  CHECK(f.token() == last);
  for (std::size_t node = 0; node < 3; ++node)
    CHECK(f.servers[node].get(counter_key) == std::to_string(last));
  CHECK(error_of([&] { (void)f.locks.try_lock("r").value(); }).code() == Errc::misconfigured);
}

TEST_CASE("large_counters_are_incremented_exactly") {
  Fixture f;
  for (const std::uint64_t counter :
       {std::uint64_t{1} << 52, last - 1000, std::uint64_t{9'000'000'000'000'001}}) {
    f.set_counters(std::to_string(counter));
    CHECK(f.token() == counter + 1);
    CHECK(f.token() == counter + 2);
  }
}

TEST_CASE("a_client_clock_in_the_year_2300_does_not_exhaust_the_tokens") {
  Fixture f;
  f.locks.skew_proposals(std::chrono::hours{24 * 365 * 274});
  const std::uint64_t first = f.token();
  CHECK(first < now_us() + 25 * std::uint64_t{3'600'000'000});
  CHECK(first > now_us() + 23 * std::uint64_t{3'600'000'000});
  std::uint64_t latest = first;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t next = f.token();
    CHECK(next > latest);
    latest = next;
  }
  CHECK(latest < now_us() + 25 * std::uint64_t{3'600'000'000});
  // Other clients continue from there.
  Redlock others{endpoints(f.nodes)};
  CHECK(others.lock("r").value().fencing_token().value() > latest);
}

TEST_CASE("a_client_clock_in_1970_or_earlier_yields_correct_tokens") {
  Fixture f;
  const bool before_the_epoch = GENERATE(true, false);
  std::uint64_t latest = GENERATE(true, false) ? f.token() : 0;
  f.locks.skew_proposals(-std::chrono::microseconds{before_the_epoch ? 2 * now_us() : now_us() - 60'000'000});
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t next = f.token();
    CHECK(next > latest);
    latest = next;
  }
  f.locks.skew_proposals(0us);
  CHECK(f.token() > latest);
}

TEST_CASE("an_idle_counter_is_kept_for_the_configured_time") {
  Fixture f;
  REQUIRE(f.token() > 0);
  for (RawClient& server : f.servers) {
    CHECK(server.pttl(counter_key) > 29LL * 24 * 3'600'000);
    CHECK(server.pttl(counter_key) <= 30LL * 24 * 3'600'000);
  }
  Redlock for_ever{endpoints(f.nodes), {.fence_memory = 0s}};
  REQUIRE(for_ever.lock("r").value().release() == Release::released);
  CHECK(eventually([&] {
    return f.servers[0].pttl(counter_key) == -1 && f.servers[1].pttl(counter_key) == -1 &&
           f.servers[2].pttl(counter_key) == -1;
  }));
  Redlock briefly{endpoints(f.nodes), {.fence_memory = 1s}};
  Lease lease = briefly.lock("r", {.ttl = 60s}).value();
  REQUIRE(eventually([&] { return f.servers.holding("r", lease.owner_value()) == 3; }));
  for (RawClient& server : f.servers) CHECK(server.pttl(counter_key) > 500'000);  // ten ttls
  f.servers.command({"PEXPIRE", counter_key, "5000"});
  REQUIRE(lease.extend());
  CHECK(eventually([&] { return f.servers[0].pttl(counter_key) > 500'000; }));
}

TEST_CASE("two_resources_that_differ_only_in_a_hash_tag_share_no_counter") {
  Fixture f;
  REQUIRE(f.locks.lock("{r}").value().release() == Release::released);
  REQUIRE(f.locks.lock("r").value().release() == Release::released);
  REQUIRE(f.locks.lock("a{b}c").value().release() == Release::released);
  CHECK(eventually([&] {
    return f.servers[0].keys() ==
           std::vector<std::string>{"redlock:f:{r}", "redlock:ft:a{b}c", "redlock:ft:{r}", "redlock:node"};
  }));
}

TEST_CASE("a_node_that_forgets_the_scripts_and_answers_after_the_others_learns_them_again") {
  Fixture f;
  f.token();
  f.servers[2].command({"SCRIPT", "FLUSH"});
  f.nodes.pause(2);
  Lease lease = f.locks.lock("r").value();
  f.nodes.resume(2);
  const std::string digest{redlock::core::grant_script.sha1};
  CHECK(eventually([&] {
    f.locks.inspect("r");  // reads what the node has answered
    return f.servers[2].command({"SCRIPT", "EXISTS", digest}) == "[1]";
  }));
}

TEST_CASE("an_unknown_script_costs_one_round_trip_and_nothing_else") {
  Fixture f;
  const std::uint64_t before = f.token();
  f.servers.command({"SCRIPT", "FLUSH"});
  CHECK(f.token() > before);
  for (const std::size_t node : {0U, 1U, 2U})
    f.servers[node].command({"SET", counter_key, std::to_string(last - 100 + node)});
  f.servers.command({"SCRIPT", "FLUSH"});
  CHECK(f.token() > before);
}
