// Servers that answer with errors. Each error has its own status, and the server is used again afterwards.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "integration/support/observers.hpp"
#include "integration/support/refusal.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::Error;
using redlock::NodeStatus;
using redlock::Release;
using redlock::SingleNodeLock;
using redlock::State;

struct Fixture {
  LocalNodes nodes;
  RawClient server;
  SingleNodeLock locks;

  explicit Fixture(const std::vector<std::string>& arguments = {})
      : nodes{1, {.arguments = arguments}},
        server{nodes.port(0)},
        locks{nodes.url(0), {.node_timeout = 500ms}} {}

  void config(const std::string& name, const std::string& value) {
    REQUIRE(server.command({"CONFIG", "SET", name, value}) == "OK");
  }
  /// Checks that the same client gets the lock again.
  void check_well_again() {
    CHECK(eventually([&] { return is_granted(locks.try_lock("r")); }));
  }
};

/// Runs a long command on its own connection and thread.
class Background {
 public:
  Background(const LocalNodes& nodes, std::vector<std::string> command)
      : thread_{[port = nodes.port(0), command = std::move(command)] {
          try {
            RawClient{port}.command(command);
          } catch (const std::runtime_error&) {  // no answer in time, which does not matter here
          }
        }} {}

 private:
  std::jthread thread_;
};

}  // namespace

TEST_CASE("a_server_that_is_a_replica_does_not_vote") {
  LocalNodes master{1};
  Fixture f;
  f.server.command({"REPLICAOF", "127.0.0.1", std::to_string(master.port(0))});
  check_refused(f.locks, Errc::misconfigured, NodeStatus::replica,
                "the server's role is slave; only masters vote");
  CHECK(f.server.attempts() == 0);
  f.server.command({"REPLICAOF", "NO", "ONE"});
  f.check_well_again();
}

TEST_CASE("a_master_that_becomes_a_replica_on_a_live_connection_is_read_only") {
  Fixture f;
  auto lease = f.locks.try_lock("held", {.ttl = 60s});
  REQUIRE(lease);
  f.server.command({"PEXPIRE", "held", "50000"});  // so that the extension must write
  f.server.command({"REPLICAOF", "127.0.0.1", "1"});
  check_refused(f.locks, Errc::misconfigured, NodeStatus::read_only, "READONLY");
  const Error error = error_of([&] { (void)lease->extend(); });
  CHECK(error.code() == Errc::misconfigured);
  CHECK(error.nodes()[0].status == NodeStatus::read_only);
  CHECK(lease->state() == State::in_doubt);

  f.server.command({"REPLICAOF", "NO", "ONE"});
  CHECK(lease->extend());
  CHECK(lease->release() == Release::released);
  f.check_well_again();
}

TEST_CASE("a_key_of_another_type_is_a_configuration_error_and_is_left_alone") {
  Fixture f;
  f.server.command({"HSET", "r", "field", "value"});
  check_refused(f.locks, Errc::misconfigured, NodeStatus::wrong_type, "WRONGTYPE");
  CHECK(error_of([&] { (void)f.locks.lock("r").value(); }).code() == Errc::misconfigured);
  CHECK(error_of([&] { (void)f.locks.try_lock_for("r", 20s).value(); }).code() == Errc::misconfigured);
  CHECK(inspection_finds(f.locks, 0, NodeStatus::wrong_type));
  CHECK(f.server.command({"HGET", "r", "field"}) == "value");
}

TEST_CASE("a_lease_whose_key_was_replaced_by_another_type_is_lost") {
  Fixture f;
  auto lease = f.locks.try_lock("r");
  auto other = f.locks.try_lock("other");
  REQUIRE((lease && other));
  f.server.command({"DEL", "r", "other"});
  f.server.command({"HSET", "r", "field", "value"});
  f.server.command({"HSET", "other", "field", "value"});
  std::error_code ec;
  CHECK_FALSE(lease->extend(ec));
  CHECK(ec == Errc::lost);
  CHECK(other->release() == Release::already_lost);
  CHECK(f.server.command({"HGET", "r", "field"}) == "value");
}

TEST_CASE("a_server_out_of_memory_still_extends_and_releases") {
  Fixture f;
  auto lease = f.locks.try_lock("held");
  REQUIRE(lease);
  f.config("maxmemory", "1");
  check_refused(f.locks, Errc::no_quorum, NodeStatus::out_of_memory, "OOM");
  CHECK(lease->extend());
  CHECK(lease->release() == Release::released);
  f.config("maxmemory", "0");
  f.check_well_again();
}

TEST_CASE("a_server_that_cannot_save_is_not_persisting") {
  Fixture f;
  auto lease = f.locks.try_lock("held", {.ttl = 60s});
  REQUIRE(lease);
  f.config("save", "3600 1");
  std::filesystem::remove_all(std::filesystem::path{f.nodes.socket_path(0)}.parent_path());
  f.server.command({"BGSAVE"});
  REQUIRE(eventually([&] { return f.server.info("rdb_last_bgsave_status") == "err"; }));
  check_refused(f.locks, Errc::no_quorum, NodeStatus::not_persisting, "MISCONF");
  CHECK(lease->release() == Release::unknown);
  f.config("stop-writes-on-bgsave-error", "no");
  f.check_well_again();
}

TEST_CASE("a_server_reading_its_data_is_loading_on_old_and_new_connections") {
  Fixture f;
  SingleNodeLock newcomer{f.nodes.url(0), {.node_timeout = 500ms}};
  REQUIRE(is_granted(f.locks.try_lock("warm-up")));
  // A thousand keys of 2 KiB, each of which takes 20 ms to load. The server handles connections after every KiB.
  f.config("rdbcompression", "no");
  f.config("loading-process-events-interval-bytes", "1024");
  f.config("key-load-delay", "20000");
  f.server.command({"DEBUG", "POPULATE", "1000", "key", "2048"});
  const Background reload{f.nodes, {"DEBUG", "RELOAD"}};
  REQUIRE(eventually([&] { return f.server.info("loading") == "1"; }));
  check_refused(f.locks, Errc::no_quorum, NodeStatus::loading, "LOADING");
  check_refused(newcomer, Errc::no_quorum, NodeStatus::loading, "LOADING");
  f.config("key-load-delay", "0");
  f.check_well_again();
}

TEST_CASE("a_server_running_an_endless_script_is_busy") {
  Fixture f{{"--lua-time-limit", "1"}};
  REQUIRE(is_granted(f.locks.try_lock("warm-up")));
  const Background script{f.nodes, {"EVAL", "while true do end", "0"}};
  REQUIRE(eventually([&] { return f.server.command({"PING"}).starts_with("-BUSY"); }));
  check_refused(f.locks, Errc::no_quorum, NodeStatus::busy, "BUSY");
  CHECK(inspection_finds(f.locks, 0, NodeStatus::busy));
  CHECK(f.server.command({"SCRIPT", "KILL"}) == "OK");
  f.check_well_again();
}

TEST_CASE("scripts_forgotten_by_the_server_are_sent_again") {
  Fixture f;
  auto first = f.locks.try_lock("first");
  auto second = f.locks.try_lock("second");
  REQUIRE((first && second));
  f.server.command({"SCRIPT", "FLUSH"});
  CHECK(first->extend());
  CHECK(first->extend());
  CHECK(first->release() == Release::released);
  CHECK(f.server.calls("eval") == 2);  // each script once
  CHECK(second->release() == Release::released);
  f.server.command({"SET", "r", "somebody"});
  f.server.command({"SCRIPT", "FLUSH"});
  CHECK(f.locks.try_lock("r").is_held());
  CHECK(f.server.get("r") == "somebody");
}

TEST_CASE("any_other_error_is_reported_in_the_servers_words") {
  Fixture f{{"--rename-command", "SET", ""}};
  check_refused(f.locks, Errc::no_quorum, NodeStatus::server_error, "nknown");
}

TEST_CASE("a_nonexistent_database_is_a_server_error") {
  LocalNodes nodes{1};
  SingleNodeLock locks{nodes.url(0) + "/99"};
  check_refused(locks, Errc::no_quorum, NodeStatus::server_error, "ERR DB index is out of range");
}
