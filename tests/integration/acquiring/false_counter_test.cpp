// A node whose counter is far ahead of the others must neither use up their numbers nor prevent locks.
#include <chrono>
#include <cstdint>
#include <string>

#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "integration/support/refusal.hpp"
#include "redlock/core/wire/scripts.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/inspectable_lock.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::NodeReport;
using redlock::NodeStatus;
using redlock::Redlock;

constexpr std::uint64_t last = 9'007'199'254'740'991;  // 2^53 - 1
constexpr std::uint64_t day = 86'400'000'000;
const std::string counter_key = "redlock:f:{r}";

std::uint64_t now_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

/// Nodes of which the first ones have false counters and answer before the others.
struct Fixture {
  explicit Fixture(int count = 3)
      : nodes{count}, servers{nodes}, proxies{nodes}, locks{proxies.endpoints(), patient} {}

  void set_counter(std::size_t node, std::uint64_t value) {
    servers[node].command({"SET", counter_key, std::to_string(value)});
  }
  [[nodiscard]] std::uint64_t counter(std::size_t node) {
    return std::stoull(servers[node].get(counter_key).value_or("0"));
  }
  /// Takes a lock and returns its token. Afterwards the lock is released on all nodes.
  std::uint64_t token() {
    const std::uint64_t value = locks.lock("r").value().fencing_token().value();
    REQUIRE(eventually([&] { return locks.pending() == 0 && servers.empty() == nodes.size(); }));
    return value;
  }

  const redlock::Options patient{.connect_timeout = 20s, .node_timeout = 2s};
  LocalNodes nodes;
  Observers servers;
  Proxies proxies;
  InspectableLock locks;
};

}  // namespace

TEST_CASE("a_false_counter_on_one_node_raises_no_other_counter_and_prevents_no_lock") {
  const std::size_t count = GENERATE(3U, 5U);
  Fixture f{static_cast<int>(count)};
  const std::uint64_t false_counter = GENERATE(last - 2, std::uint64_t{9'000'000'000'000'000}, 0U);
  std::uint64_t latest = f.token();
  for (std::size_t node = 1; node < count; ++node) f.proxies[node].set_delay(0ms, 10ms);
  f.proxies[count - 1].set_delay(0ms, 30ms);  // so that the false counter is in every first majority
  for (int round = 0; round < 5; ++round) {
    f.set_counter(0, false_counter == 0 ? now_us() + 3 * day : false_counter);
    const std::uint64_t token = f.token();
    CHECK(token > latest);
    latest = token;
    for (std::size_t node = 1; node < count; ++node) CHECK(f.counter(node) < now_us() + 2 * day);
  }
}

TEST_CASE("two_false_counters_of_five_raise_no_other_counter_and_prevent_no_lock") {
  Fixture f{5};
  std::uint64_t latest = f.token();
  for (std::size_t node = 2; node < 5; ++node) f.proxies[node].set_delay(0ms, 10ms);
  for (int round = 0; round < 5; ++round) {
    f.set_counter(0, last - 2);
    f.set_counter(1, last - 4);
    const std::uint64_t token = f.token();
    CHECK(token > latest);
    latest = token;
    for (std::size_t node = 2; node < 5; ++node) CHECK(f.counter(node) < now_us() + 2 * day);
  }
}

TEST_CASE("without_a_majority_of_other_nodes_a_false_counter_is_reported") {
  Fixture f;
  REQUIRE(f.token() > 0);
  f.set_counter(0, last - 2);
  f.nodes.kill(2);
  const redlock::Error error = error_of([&] { (void)f.locks.try_lock("r").value(); });
  CHECK(error.code() == Errc::no_quorum);
  const NodeReport& refuses = error.nodes()[1];
  CHECK(refuses.status == NodeStatus::bad_counter);
  CHECK(refuses.message ==
        "the fencing token " + std::to_string(last - 1) + " is too far ahead of this node's clock");
  CHECK(f.counter(1) < now_us() + day);
}

TEST_CASE("counters_that_are_all_far_ahead_of_the_clocks_continue") {
  Fixture f;
  const std::uint64_t ahead = GENERATE(std::uint64_t{1} << 52, last - 5'000'000);
  for (std::size_t node = 0; node < 3; ++node) f.set_counter(node, ahead + 400'000 * node);
  std::uint64_t latest = ahead;
  for (int round = 0; round < 5; ++round) {
    const std::uint64_t token = f.token();
    CHECK(token > latest);
    latest = token;
  }
  CHECK(latest < ahead + 1'000'000);
}

TEST_CASE("a_confirmation_raises_a_counter_by_a_million_or_to_two_days_ahead_and_no_further") {
  const LocalNodes nodes{1};
  Observers servers{nodes};
  struct Case {
    std::uint64_t granted;
    std::uint64_t token;
    bool confirmed;
  };
  const std::uint64_t now = now_us();
  const auto [granted, token, confirmed] = GENERATE_REF(
      Case{1, now, true}, Case{1, now + 2 * day - day / 24, true}, Case{1, now + 2 * day + day / 24, false},
      Case{now + 3 * day, now + 3 * day + 1'000'000, true},
      Case{now + 3 * day, now + 3 * day + 1'000'001, false}, Case{last - 1'000'000, last, true},
      Case{last - 1'000'001, last, false});
  const std::string before = std::to_string(granted);
  const std::string wanted = std::to_string(token);
  servers.command({"SET", counter_key, before});
  const bool repairs = GENERATE(false, true);
  std::string reply;
  if (repairs) {
    reply = servers[0].command({"EVAL", std::string{redlock::core::put_back_script.source}, "2", "r",
                                counter_key, "me", "60000", wanted, "0"});
  } else {
    servers.command({"SET", "r", "me"});
    reply = servers[0].command({"EVAL", std::string{redlock::core::confirm_script.source}, "2", "r",
                                counter_key, "me", before, wanted, "0"});
  }
  CHECK(reply == (confirmed ? "1" : "-1"));
  CHECK(servers[0].get(counter_key) == (confirmed ? wanted : before));
  CHECK(servers[0].get("r").has_value() == (confirmed || !repairs));
}
