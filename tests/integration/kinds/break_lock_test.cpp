// Taking a lock from its holder.
#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/core/line/line_messages.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/inspectable_lock.hpp"
#include "support/recording_observer.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Lease;
using redlock::LockOptions;
using redlock::Loss;
using redlock::NodeReport;
using redlock::NodeStatus;
using redlock::Redlock;

struct Fixture {
  LocalNodes nodes{3};
  Observers servers{nodes};
  std::shared_ptr<RecordingObserver> events = std::make_shared<RecordingObserver>();
  InspectableLock holder{endpoints(nodes), {.max_ttl = 1h}};
  Redlock other{endpoints(nodes), {.observer = events}};

  /// All servers tell the holder of changes.
  [[nodiscard]] bool is_armed() {
    return std::ranges::all_of(servers,
                               [](RawClient& server) { return server.info("tracking_total_keys") != "0"; });
  }
  [[nodiscard]] Lease lock(const LockOptions& options = {.ttl = 60s}) {
    return holder.lock("r", options).value();
  }
};

std::ptrdiff_t count(const std::vector<NodeReport>& reports, NodeStatus status) {
  return std::ranges::count(reports, status, &NodeReport::status);
}

}  // namespace

TEST_CASE("a_holder_loses_a_broken_lock_and_hears_it") {
  Fixture f;
  const Lease lease = f.lock({.ttl = 60s, .on_lost = [](Loss) {}});  // watched from the beginning
  const std::vector<NodeReport> reports = f.other.break_lock("r", lease.owner_value());
  CHECK(count(reports, NodeStatus::held) == 3);
  CHECK(f.servers.having("r") == 0);
  REQUIRE(eventually([&] { return lease.loss() != Loss::none; }));
  CHECK(lease.loss() == Loss::deleted);
  const Lease next = f.other.try_lock("r").value();
  CHECK(next.fencing_token() > lease.fencing_token());
}

TEST_CASE("whoever_has_the_lock_meanwhile_keeps_it_when_that_of_a_former_holder_is_broken") {
  Fixture f;
  Lease former = f.lock();
  const std::string owner{former.owner_value()};
  former.release();
  const Lease lease = f.lock();
  const std::vector<NodeReport> reports = f.other.break_lock("r", owner);
  CHECK(count(reports, NodeStatus::free) == 3);
  CHECK(f.servers.holding("r", lease.owner_value()) == 3);
  CHECK(lease.valid());
  // A part of the owner value is not the owner value.
  CHECK(count(f.other.break_lock("r", lease.owner_value().substr(0, 40)), NodeStatus::free) == 3);
  CHECK(f.servers.holding("r", lease.owner_value()) == 3);
}

TEST_CASE("one_reader_loses_a_broken_lock_and_the_others_keep_it") {
  Fixture f;
  const LockOptions reading{.ttl = 60s, .shared = true};
  const Lease first = f.lock(reading);
  const Lease second = f.lock(reading);
  const Lease third = f.lock(reading);
  CHECK(count(f.other.break_lock("r", first.owner_value()), NodeStatus::held) == 3);
  const std::vector<NodeReport> left = f.other.inspect("r");
  CHECK(left[0].readers.size() == 2);
  CHECK(f.other.try_lock("r").code() == redlock::Errc::held);
  const auto others = f.other.break_lock("r", {second.owner_value(), third.owner_value()});
  CHECK(count(others, NodeStatus::held) == 3);
  CHECK(f.servers.having("r") == 0);
  CHECK_FALSE(f.other.try_lock("r").code());
}

TEST_CASE("a_client_that_breaks_a_lock_of_its_own_notices_that_long_before_the_next_extension") {
  Fixture f;
  const bool is_shared = GENERATE(false, true);
  const Lease lease = f.lock({.ttl = 1h, .shared = is_shared, .on_lost = [](Loss) {}});
  const std::string watched = is_shared ? "redlock:s:{r}:" + lease.owner_value().substr(0, 16) : "r";
  REQUIRE(
      eventually([&] { return f.holder.pending() == 0 && f.servers.having(watched) == 3 && f.is_armed(); }));
  CHECK(count(f.holder.break_lock("r", lease.owner_value()), NodeStatus::held) == 3);
  REQUIRE(eventually([&] { return lease.loss() != Loss::none; }));
  CHECK(lease.loss() == Loss::deleted);
  CHECK(f.servers.having("r") == 0);
}

TEST_CASE("whoever_stands_in_line_gets_a_broken_lock") {
  Fixture f;
  const Lease lease = f.lock({.ttl = 60s});
  const auto wait = [](redlock::LockClient& locks) {
    return std::async(std::launch::async,
                      [&] { return locks.try_lock_for("r", 60s).value().fencing_token(); });
  };
  const std::string order = redlock::core::LineKeys{"r"}.order;
  const auto standing = [&] {
    int calls = 0;
    for (RawClient& server : f.servers) calls += std::stoi(server.command({"ZCARD", order}));
    return calls;
  };
  auto first = wait(f.holder);
  REQUIRE(eventually([&] { return standing() == 1; }));
  auto second = wait(f.other);
  REQUIRE(eventually([&] { return standing() == 2; }));
  f.other.break_lock("r", lease.owner_value());
  const auto token = first.get();
  CHECK(token > lease.fencing_token());
  CHECK(second.get() > token);
}

TEST_CASE("a_lock_is_broken_on_the_nodes_that_answer") {
  Fixture f;
  const Lease lease = f.lock();
  REQUIRE(eventually([&] { return f.servers.holding("r", lease.owner_value()) == 3; }));
  f.nodes.kill(0);
  const std::vector<NodeReport> reports = f.other.break_lock("r", lease.owner_value());
  CHECK(count(reports, NodeStatus::held) == 2);
  CHECK_FALSE(reports[0].message.empty());
  CHECK_FALSE(f.other.try_lock("r").code());
}

TEST_CASE("the_observer_of_whoever_breaks_a_lock_is_told") {
  Fixture f;
  const Lease lease = f.lock();
  f.other.break_lock("r", std::string(40, '0'));
  f.other.break_lock("r", lease.owner_value());
  REQUIRE(eventually([&] { return !f.events->breaks().empty(); }));
  const auto breaks = f.events->breaks();
  CHECK(breaks.size() == 1);
  CHECK(breaks[0].resource == "r");
  CHECK(breaks[0].kind == redlock::Observer::Kind::exclusive);
  CHECK(breaks[0].copies == 3);
}

TEST_CASE("the_observer_is_told_of_which_kind_a_broken_lock_was_as_far_as_others_can_see") {
  using Kind = redlock::Observer::Kind;
  Fixture f;
  const LockOptions reading{.ttl = 60s, .shared = true};
  const Lease first = f.lock(reading);
  const Lease second = f.lock(reading);
  f.other.break_lock("r", {first.owner_value(), second.owner_value()});
  const Lease seat = f.holder.lock("gpu", {.ttl = 60s, .seats = 2}).value();
  f.other.break_lock(seat.resource(), seat.owner_value());
  const Lease leadership = redlock::Election{f.holder, "cron"}.campaign().value();
  f.other.break_lock("cron", leadership.owner_value());
  REQUIRE(eventually([&] { return f.events->breaks().size() == 3; }));
  const auto breaks = f.events->breaks();
  CHECK(breaks[0].resource == "r");
  CHECK(breaks[0].kind == Kind::shared);
  CHECK(breaks[1].resource == seat.resource());
  CHECK(breaks[1].kind == Kind::seat);
  CHECK(breaks[2].resource == "cron");
  CHECK(breaks[2].kind == Kind::leader);
}

TEST_CASE("a_data_key_of_any_type_is_not_broken") {
  Fixture f;
  for (RawClient& server : f.servers) {
    server.command({"SET", "text", "data"});
    server.command({"LPUSH", "list", "data"});
  }
  CHECK(count(f.other.break_lock("text", "dat"), NodeStatus::free) == 3);
  CHECK(count(f.other.break_lock("list", "data"), NodeStatus::wrong_type) == 3);
  CHECK(f.servers.having("text") == 3);
  CHECK(f.servers.having("list") == 3);
}

TEST_CASE("owner_values_that_nobody_can_have_are_refused_with_what_is_allowed") {
  Fixture f;
  const auto refusal = [&](const std::vector<std::string_view>& owners) -> std::string {
    try {
      f.other.break_lock("r", owners);
    } catch (const redlock::Error& error) {
      CHECK(error.code() == redlock::Errc::invalid_argument);
      return error.what();
    }
    return {};
  };
  CHECK(refusal({}).find("break_lock has 0 owner values; allowed: 1 to 100") != std::string::npos);
  CHECK(refusal(std::vector<std::string_view>(101, "owner")).find("101 owner values") != std::string::npos);
  CHECK(refusal({""}).find("the owner value has 0 bytes; allowed: 1 to 1024") != std::string::npos);
  CHECK(refusal({"redlock:shared"}).find("nobody owns a lock with such a value") != std::string::npos);
  std::error_code ec;
  CHECK(f.other.break_lock("r", "", ec).empty());
  CHECK(ec == redlock::Errc::invalid_argument);
}
