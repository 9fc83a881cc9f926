// Asking the holder of a lock to give it up.
#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/inspectable_lock.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Lease;
using redlock::LockOptions;
using redlock::NodeReport;
using redlock::NodeStatus;
using redlock::Redlock;

/// Records what a holder is asked. Thread-safe.
class Requests {
 public:
  [[nodiscard]] std::function<void(std::string_view)> callback() {
    return [this](std::string_view why) {
      const std::lock_guard lock{mutex_};
      reasons_.emplace_back(why);
    };
  }
  [[nodiscard]] std::vector<std::string> reasons() {
    const std::lock_guard lock{mutex_};
    return reasons_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> reasons_;
};

struct Fixture {
  explicit Fixture(int count = 3)
      : nodes{count}, servers{nodes}, holder{endpoints(nodes)}, other{endpoints(nodes)} {}
  LocalNodes nodes;
  Observers servers;
  InspectableLock holder;
  Redlock other;
  Requests requests;

  [[nodiscard]] LockOptions options() {
    return {.ttl = 60s, .renewal = redlock::Renewal::none, .on_revoke = requests.callback()};
  }
  [[nodiscard]] bool is_armed() {
    return eventually([&] {
      return holder.pending() == 0 && std::all_of(servers.begin(), servers.end(), [](RawClient& server) {
               return server.info("tracking_total_keys") == "1";
             });
    });
  }
  [[nodiscard]] bool is_asked(const std::string& why) {
    return eventually([&] { return !requests.reasons().empty(); }) && requests.reasons() == std::vector{why};
  }
};

std::size_t count(const std::vector<NodeReport>& reports, NodeStatus status) {
  return static_cast<std::size_t>(std::count_if(
      reports.begin(), reports.end(), [&](const NodeReport& each) { return each.status == status; }));
}

}  // namespace

TEST_CASE("the_holder_is_asked_once_and_keeps_the_lock_until_it_releases_it") {
  Fixture f;
  Lease lease = f.holder.lock("r", f.options()).value();
  REQUIRE(f.is_armed());
  const std::vector<NodeReport> asked = f.other.revoke("r", "payroll goes first");
  REQUIRE(count(asked, NodeStatus::held) == 3);
  CHECK(asked[0].owner == lease.owner_value());
  REQUIRE(f.is_asked("payroll goes first"));
  CHECK(lease.valid());
  f.other.revoke("r", "again");
  REQUIRE(f.is_armed());
  CHECK(f.requests.reasons().size() == 1);
  CHECK(lease.release() == redlock::Release::released);
  CHECK_FALSE(f.other.try_lock("r").code());
}

TEST_CASE("a_successor_is_not_asked") {
  Fixture f;
  Requests of_first;
  LockOptions first = f.options();
  first.on_revoke = of_first.callback();
  Lease lease = f.holder.lock("r", first).value();
  f.other.revoke("r");
  REQUIRE(eventually([&] { return of_first.reasons() == std::vector<std::string>{"revoked"}; }));
  lease.release();
  const Lease next = f.holder.lock("r", f.options()).value();
  REQUIRE(f.is_armed());
  CHECK(f.requests.reasons().empty());
}

TEST_CASE("one_node_is_enough_to_ask_the_holder") {
  Fixture f{5};
  const Lease lease = f.holder.lock("r", f.options()).value();
  REQUIRE(f.is_armed());
  Redlock nearly_cut_off{{f.nodes.url(0)}};
  const std::vector<NodeReport> asked = nearly_cut_off.revoke("r", "now");
  CHECK(count(asked, NodeStatus::held) == 1);
  CHECK(f.is_asked("now"));
}

TEST_CASE("a_request_is_heard_whether_or_not_the_holder_listens_already") {
  Fixture f;
  for (int i = 0; i < 10; ++i) {
    Requests requests;
    LockOptions options = f.options();
    options.on_revoke = requests.callback();
    const Lease lease = f.holder.lock("r", options).value();
    f.other.revoke("r", "early");
    REQUIRE(eventually([&] { return requests.reasons() == std::vector<std::string>{"early"}; }));
  }
}

TEST_CASE("who_adopts_a_lock_is_not_asked_by_requests_to_the_holder_before") {
  Fixture f;
  const Lease lease = f.holder.lock("r", {.ttl = 60s, .renewal = redlock::Renewal::none}).value();
  f.other.revoke("r", "for the holder before");
  const Lease adopted = f.other.adopt({"r", lease.owner_value(), lease.fencing_token()}, f.options()).value();
  f.holder.revoke("r", "for the adopter");
  CHECK(f.is_asked("for the adopter"));
}

TEST_CASE("a_client_can_ask_for_a_lock_of_its_own") {
  Fixture f;
  const Lease lease = f.holder.lock("r", f.options()).value();
  REQUIRE(f.is_armed());
  f.holder.revoke("r", "another thread wants it");
  CHECK(f.is_asked("another thread wants it"));
}

TEST_CASE("the_request_disappears_with_the_lock_and_a_free_lock_gets_none") {
  Fixture f;
  CHECK(count(f.other.revoke("r"), NodeStatus::free) == 3);
  CHECK(f.servers[0].command({"KEYS", "redlock:a:*"}) == "[]");
  Lease lease = f.holder.lock("r", {.ttl = 300ms, .renewal = redlock::Renewal::none}).value();
  f.other.revoke("r");
  const std::string request = "redlock:a:{r}:" + lease.owner_value().substr(0, 16);
  CHECK(f.servers.having(request) == 3);
  CHECK(eventually([&] { return f.servers.having(request) == 0; }));
}

TEST_CASE("nobody_is_asked_for_what_no_client_of_redlock_holds") {
  Fixture f;
  for (RawClient& server : f.servers) {
    server.command({"SET", "kept", "redlock:kept", "PX", "60000"});
    server.command({"SET", "forever", "data"});
    server.command({"LPUSH", "list", "data"});
  }
  CHECK(count(f.other.revoke("kept"), NodeStatus::held) == 3);
  CHECK(count(f.other.revoke("forever"), NodeStatus::held) == 3);
  CHECK(count(f.other.revoke("list"), NodeStatus::wrong_type) == 3);
  CHECK(f.servers[0].command({"KEYS", "redlock:a:*"}) == "[]");
  CHECK(f.servers[0].command({"TTL", "forever"}) == "-1");
}

TEST_CASE("a_renewed_lease_is_asked_after_many_renewals") {
  Fixture f;
  LockOptions options = f.options();
  options.ttl = 1s;
  options.renewal = redlock::Renewal::automatic;
  const Lease lease = f.holder.lock("r", options).value();
  const auto first = lease.deadline();
  REQUIRE(eventually([&] { return lease.deadline() > first + 2s; }));
  f.other.revoke("r", "enough");
  CHECK(f.is_asked("enough"));
  CHECK(lease.valid());
}

TEST_CASE("the_callback_may_release_the_lease_and_is_not_called_after_a_release") {
  Fixture f;
  std::optional<Lease> lease;
  std::mutex mutex;
  LockOptions options = f.options();
  options.on_revoke = [&](std::string_view) {
    const std::lock_guard lock{mutex};
    lease.reset();
  };
  {
    const std::lock_guard lock{mutex};
    lease = f.holder.lock("r", options).value();
  }
  f.other.revoke("r");
  CHECK(eventually([&] { return f.servers.having("r") == 0; }));

  Lease released = f.holder.lock("r", f.options()).value();
  released.release();
  f.other.revoke("r");
  CHECK_FALSE(f.holder.try_lock("r").code());
  CHECK(f.requests.reasons().empty());
}

TEST_CASE("an_exception_of_the_callback_is_reported") {
  std::mutex mutex;
  std::vector<std::string> warnings;
  const LocalNodes nodes{3};
  Redlock locks{endpoints(nodes), {.on_warning = [&](std::string_view warning) {
                  const std::lock_guard lock{mutex};
                  warnings.emplace_back(warning);
                }}};
  const Lease lease =
      locks.lock("r", {.on_revoke = [](std::string_view) { throw std::runtime_error{"oops"}; }}).value();
  locks.revoke("r");
  CHECK(eventually([&] {
    const std::lock_guard lock{mutex};
    return warnings == std::vector<std::string>{"a revocation callback threw: oops"};
  }));
}

TEST_CASE("a_reason_has_1_to_200_bytes_of_any_value") {
  Fixture f;
  const Lease lease = f.holder.lock("r", f.options()).value();
  REQUIRE(f.is_armed());
  std::error_code ec;
  for (const std::size_t size : {0U, 201U}) {
    CHECK(f.other.revoke("r", std::string(size, 'x'), ec).empty());
    CHECK(ec == redlock::Errc::invalid_argument);
  }
  CHECK(f.other.revoke("", "why", ec).empty());
  CHECK(ec == redlock::Errc::invalid_argument);
  std::string bytes(200, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i + 56);
  f.other.revoke("r", bytes, ec);
  CHECK_FALSE(ec);
  CHECK(f.is_asked(bytes));
}

TEST_CASE("a_request_of_any_size_or_type_harms_nobody") {
  Fixture f;
  const Lease lease = f.holder.lock("r", f.options()).value();
  REQUIRE(f.is_armed());
  const std::string request = "redlock:a:{r}:" + lease.owner_value().substr(0, 16);
  f.servers[0].command({"LPUSH", request, "data"});
  f.servers[0].command({"PEXPIRE", "r", "60000"});
  REQUIRE(f.is_armed());
  CHECK(f.requests.reasons().empty());
  f.servers[1].command({"SET", request, std::string(1'000'000, 'x')});
  f.servers[1].command({"PEXPIRE", "r", "60000"});
  CHECK(f.is_asked(std::string(200, 'x')));
  CHECK(lease.valid());
}

TEST_CASE("a_leader_and_the_holder_of_a_seat_can_be_asked") {
  Fixture f;
  LockOptions options = f.options();
  options.seats = 2;
  const Lease seat = f.holder.lock("gpu", options).value();
  CHECK(count(f.other.revoke("gpu"), NodeStatus::free) == 3);
  f.other.revoke(seat.resource(), "the seat");
  CHECK(f.is_asked("the seat"));

  Requests of_leader;
  LockOptions leads = f.options();
  leads.on_revoke = of_leader.callback();
  redlock::Election election{f.holder, "leader", "a", leads};
  const redlock::LockResult leader = election.try_campaign();
  REQUIRE(leader);
  f.other.revoke("leader", "a better one");
  CHECK(eventually([&] { return of_leader.reasons() == std::vector<std::string>{"a better one"}; }));
}

TEST_CASE("a_single_node_lock_can_be_revoked") {
  const LocalNodes nodes{1};
  redlock::SingleNodeLock locks{nodes.url(0)};
  Requests requests;
  const Lease lease = locks.lock("r", {.on_revoke = requests.callback()}).value();
  locks.revoke("r", "please");
  CHECK(eventually([&] { return requests.reasons() == std::vector<std::string>{"please"}; }));
}
