// A lease whose copies are deleted is lost at once, long before the next extension.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/loss_recorder.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/inspectable_lock.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Lease;
using redlock::Loss;
using redlock::Options;
using redlock::Redlock;
using redlock::State;

/// The ttl is so long that neither a renewal nor the deadline can report the loss first.
struct Fixture {
  explicit Fixture(int count = 3, Options options = {})
      : nodes{count}, locks{endpoints(nodes), std::move(options)} {}
  LocalNodes nodes;
  Observers servers{nodes};
  InspectableLock locks;
  LossRecorder recorder;

  Lease hold(redlock::Renewal renewal = redlock::Renewal::none) {
    return locks.lock("r", {.ttl = 60s, .renewal = renewal, .on_lost = recorder.callback()}).value();
  }
  /// Whether all nodes will report the next change, and no write of the client is under way.
  [[nodiscard]] bool is_armed() {
    return eventually([&] {
      if (locks.pending() > 0) return false;
      for (RawClient& server : servers)
        if (server.info("tracking_total_keys") != "1") return false;
      return true;
    });
  }
  /// Whether no command of the client is under way any more.
  [[nodiscard]] bool is_quiet() {
    return eventually([&] { return locks.pending() == 0; });
  }
  [[nodiscard]] bool is_reported(Loss loss) {
    return eventually([&] { return !recorder.losses().empty(); }) && recorder.losses() == std::vector{loss};
  }
};

/// Number of listener connections to a server.
std::size_t listening(RawClient& server) {
  const std::string clients = server.command({"CLIENT", "LIST", "TYPE", "pubsub"});
  return static_cast<std::size_t>(std::count(clients.begin(), clients.end(), '\n'));
}

/// Records warnings. Thread-safe.
class Warnings {
 public:
  [[nodiscard]] Options options() {
    return {.on_warning = [this](std::string_view warning) {
      const std::lock_guard lock{mutex_};
      texts_.emplace_back(warning);
    }};
  }
  [[nodiscard]] std::vector<std::string> texts() {
    const std::lock_guard lock{mutex_};
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
};

}  // namespace

TEST_CASE("a_lease_whose_keys_are_deleted_on_a_majority_is_lost_at_once") {
  Fixture f;
  Lease lease = f.hold(GENERATE(redlock::Renewal::none, redlock::Renewal::automatic));
  REQUIRE(f.is_armed());
  f.servers[0].del("r");
  f.servers[1].del("r");
  REQUIRE(f.is_reported(Loss::deleted));
  CHECK(lease.loss() == Loss::deleted);
  CHECK(f.is_quiet());
  CHECK(f.servers[2].get("r") == lease.owner_value());
  CHECK(lease.release() == redlock::Release::already_lost);
  CHECK(eventually([&] { return f.servers.having("r") == 0; }));
}

TEST_CASE("a_lease_whose_keys_are_overwritten_on_a_majority_is_lost_as_taken") {
  Fixture f;
  Lease lease = f.hold();
  REQUIRE(f.is_armed());
  const bool is_data = GENERATE(false, true);
  for (const std::size_t node : {1U, 2U}) {
    if (is_data) f.servers[node].command({"LPUSH", "data", "somebody else's"});
    f.servers[node].command(is_data ? std::vector<std::string>{"RENAME", "data", "r"}
                                    : std::vector<std::string>{"SET", "r", "somebody else's"});
  }
  REQUIRE(f.is_reported(Loss::taken));
  CHECK(lease.loss() == Loss::taken);
  CHECK(f.is_quiet());
  CHECK(f.servers[0].get("r") == lease.owner_value());
  CHECK(lease.release() == redlock::Release::already_lost);
  // Only our copy is released.
  CHECK(eventually([&] { return f.servers.having("r") == 2; }));
  CHECK(f.servers[0].get("r") == std::nullopt);
}

TEST_CASE("a_lease_on_flushed_nodes_is_lost_at_once") {
  Fixture f{5};
  std::vector<Lease> held;
  for (int i = 0; i < 300; ++i) held.push_back(f.locks.lock("r " + std::to_string(i), {.ttl = 60s}).value());
  const Lease last = f.hold();
  const auto all_armed = [&](RawClient& server) { return server.info("tracking_total_keys") == "301"; };
  REQUIRE(eventually([&] { return std::all_of(f.servers.begin(), f.servers.end(), all_armed); }));
  f.servers[4].command({"FLUSHALL"});
  f.servers[2].command({"FLUSHDB"});
  f.servers[0].command({"FLUSHALL"});
  REQUIRE(f.is_reported(Loss::deleted));
  const auto is_lost = [](const Lease& lease) { return lease.loss() == Loss::deleted; };
  CHECK(eventually([&] { return std::all_of(held.begin(), held.end(), is_lost); }));
}

TEST_CASE("a_loss_before_the_first_stop_token_or_wait_is_reported_too") {
  Fixture f;
  const Lease lease = f.locks.lock("r", {.ttl = 60s}).value();
  f.servers.command({"DEL", "r"});
  if (GENERATE(false, true)) {
    CHECK(lease.wait_lost(1min));
  } else {
    const std::stop_token token = lease.stop_token();
    CHECK(eventually([&] { return token.stop_requested(); }));
  }
  CHECK(lease.loss() == Loss::deleted);
}

TEST_CASE("a_lease_is_watched_again_after_each_of_its_own_writes") {
  Fixture f;
  Lease lease = f.hold();
  REQUIRE(f.is_armed());
  for (int round = 0; round < 5; ++round) REQUIRE(lease.extend());
  // The extension restores the copy on this node, which is another write.
  f.servers[0].del("r");
  REQUIRE(lease.extend());
  REQUIRE(eventually([&] { return f.servers.holding("r", lease.owner_value()) == 3; }));
  REQUIRE(f.is_armed());
  CHECK(f.recorder.losses().empty());
  f.servers[0].del("r");
  f.servers[1].del("r");
  REQUIRE(f.is_reported(Loss::deleted));
}

TEST_CASE("a_single_deleted_copy_is_not_a_loss_and_is_restored") {
  Fixture f;
  reach_all(f.locks, f.servers);
  const Lease lease = f.locks.lock("r", {.ttl = 1s, .on_lost = f.recorder.callback()}).value();
  for (int round = 0; round < 6; ++round) {
    REQUIRE(f.is_armed());
    f.servers[static_cast<std::size_t>(round % 3)].del("r");
    REQUIRE(eventually([&] { return f.servers.holding("r", lease.owner_value()) == 3; }));
    // A restored copy counts after two more rounds.
    const auto deadline = lease.deadline();
    REQUIRE(eventually([&] { return lease.deadline() >= deadline + 1s; }));
  }
  CHECK(lease.state() == State::held);
  CHECK(f.recorder.losses().empty());
}

TEST_CASE("a_lease_is_lost_when_a_majority_restarts_without_its_keys") {
  Fixture f;
  const Lease lease = f.hold();
  REQUIRE(f.is_armed());
  f.nodes.restart_empty(0);
  f.nodes.restart_empty(1);
  REQUIRE(f.is_reported(Loss::deleted));
  CHECK(lease.state() == State::lost);
}

TEST_CASE("a_listener_that_loses_its_connection_reconnects_and_reports_changes") {
  Fixture f;
  const Lease lease = f.hold();
  REQUIRE(f.is_armed());
  const bool meanwhile = GENERATE(false, true);
  const std::string whom = GENERATE("pubsub", "normal");
  for (const std::size_t node : {0U, 1U}) {
    f.servers[node].command({"CLIENT", "KILL", "TYPE", whom, "SKIPME", "yes"});
    if (meanwhile) f.servers[node].del("r");
  }
  if (!meanwhile) {
    REQUIRE(eventually([&] { return listening(f.servers[0]) == 1 && listening(f.servers[1]) == 1; }));
    REQUIRE(f.is_armed());
    for (const std::size_t node : {0U, 1U}) f.servers[node].del("r");
  }
  REQUIRE(f.is_reported(Loss::deleted));
}

TEST_CASE("a_server_that_refuses_listeners_is_polled_with_one_warning") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  const std::string rule = GENERATE("-client", "-client|tracking", "-subscribe", "resetchannels");
  for (RawClient& server : servers) {
    REQUIRE(server.command({"ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all"}) == "OK");
    REQUIRE(server.command({"ACL", "SETUSER", "app", rule}) == "OK");
  }
  std::vector<redlock::Endpoint> endpoints;
  for (int node = 0; node < 3; ++node)
    endpoints.emplace_back("redis://app:secret@127.0.0.1:" + std::to_string(nodes.port(node)));
  Warnings warnings;
  Redlock locks{endpoints, warnings.options()};
  LossRecorder recorder;
  const Lease lease = locks.lock("r", {.ttl = 10s, .on_lost = recorder.callback()}).value();
  REQUIRE(eventually([&] { return warnings.texts().size() == 1; }));
  CHECK(warnings.texts()[0].find("sends no invalidation messages") != std::string::npos);
  CHECK(warnings.texts()[0].find("NOPERM") != std::string::npos);
  for (const std::size_t node : {0U, 1U}) servers[node].del("r");
  REQUIRE(eventually([&] { return !recorder.losses().empty(); }));
  CHECK(recorder.losses() == std::vector{Loss::deleted});
  CHECK(recorder.at() < lease.deadline());
  CHECK(warnings.texts().size() == 1);
}

TEST_CASE("a_released_lease_is_no_longer_watched") {
  Fixture f;
  {
    Lease lease = f.hold();
    REQUIRE(f.is_armed());
    lease.release();
    f.servers.command({"SET", "r", "somebody else's"});
    CHECK(f.locks.look([](const auto& engine) { return engine.watched(); }) == 0);
  }
  CHECK(f.recorder.losses().empty());
}

TEST_CASE("a_lease_without_loss_notification_needs_no_second_connection") {
  Fixture f;
  const auto lease = f.locks.try_lock("r", {.ttl = 60s, .renewal = redlock::Renewal::none});
  const auto renewed = f.locks.try_lock("renewed", {.ttl = 60s});
  REQUIRE((lease && renewed));
  REQUIRE(f.is_armed());
  for (RawClient& server : f.servers) CHECK(listening(server) == 1);
  for (RawClient& server : f.servers) CHECK(server.info("tracking_total_keys") == "1");
}
