// Passwords that change while a client runs.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/waiting_line.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/exception_message.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/network/raw_client.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Credentials;
using redlock::Endpoint;
using redlock::NodeStatus;
using redlock::Options;
using redlock::Redlock;

/// Three servers with the user "app", and clients that take its password from here.
struct Fixture {
  LocalNodes nodes{3};
  std::mutex mutex;
  std::string password = "old";
  std::vector<std::string> warnings;

  Fixture() {
    for (int node = 0; node < 3; ++node) set_user(node, {">old"});
  }
  void set_user(int node, const std::vector<std::string>& passwords) {
    std::vector<std::string> command{"ACL", "SETUSER", "app", "resetpass", "on", "~*", "&*", "+@all"};
    command.insert(command.end(), passwords.begin(), passwords.end());
    REQUIRE(RawClient{nodes.port(node)}.command(command) == "OK");
  }
  void change_to(const std::string& other) {
    const std::lock_guard lock{mutex};
    password = other;
  }
  Options options() {
    return {.node_timeout = unhurried.node_timeout,
            .credentials =
                [this](const Endpoint&) {
                  const std::lock_guard lock{mutex};
                  return Credentials{"app", password};
                },
            .credentials_interval = 20ms,
            .restart_guard = redlock::RestartGuard::off,
            .on_warning =
                [this](std::string_view text) {
                  const std::lock_guard lock{mutex};
                  warnings.emplace_back(text);
                }};
  }
  std::vector<Endpoint> endpoints() const {
    const std::vector<std::string> urls = nodes.urls();
    return {urls.begin(), urls.end()};
  }
  std::size_t warned() {
    const std::lock_guard lock{mutex};
    return warnings.size();
  }
  /// How many logins the server has answered, refused ones among them.
  std::uint64_t logins(int node) { return RawClient{nodes.port(node)}.calls("auth"); }
  /// How many connections the client has there.
  int connections(int node) {
    const std::string list = RawClient{nodes.port(node)}.command({"CLIENT", "LIST"});
    int count = 0;
    for (std::size_t at = 0; (at = list.find(" user=app ", at)) != std::string::npos; ++at) ++count;
    return count;
  }
};

/// A lock of which every node has its copy: a call waits only for a majority.
redlock::Lease lock_on_all(Fixture& f, InspectableLock& locks) {
  Observers servers{f.nodes};
  reach_all(locks, servers);
  auto lease = locks.lock("r").value();
  REQUIRE(eventually([&] { return servers.having("r") == 3; }));
  return lease;
}

}  // namespace

TEST_CASE("a_changed_password_is_sent_on_both_connections_that_are_open") {
  Fixture f;
  InspectableLock locks{f.endpoints(), f.options()};
  auto lease = locks.lock("r", {.on_lost = [](redlock::Loss) {}}).value();
  for (int node = 0; node < 3; ++node) {
    REQUIRE(eventually([&] { return f.connections(node) == 2; }));
    REQUIRE(f.logins(node) == 2);
    f.set_user(node, {">old", ">new"});
  }
  f.change_to("new");
  for (int node = 0; node < 3; ++node) {
    CHECK(eventually([&] { return f.logins(node) == 4; }));
    CHECK(eventually(
        [&] { return f.connections(node) == 2 && locks.listens(static_cast<std::size_t>(node)); }));
  }
  CHECK(lease.extend());
  CHECK(lease.state() == redlock::State::held);
  // The listeners work: the loss of all copies is noticed.
  const std::stop_token lost = lease.stop_token();
  for (int node = 0; node < 3; ++node) RawClient{f.nodes.port(node)}.del("r");
  CHECK(eventually([&] { return lost.stop_requested(); }));
  CHECK(f.warned() == 0);
}

TEST_CASE("a_lock_is_renewed_and_a_place_in_line_kept_while_the_password_changes") {
  Fixture f;
  WaitingLine line{f.nodes, "r"};
  Redlock holding{f.endpoints(), f.options()};
  InspectableLock waiting{f.endpoints(), f.options()};
  auto lease = holding.lock("r", {.ttl = 6s, .renewal = redlock::Renewal::automatic}).value();
  auto next = std::async(std::launch::async, [&] { return is_granted(waiting.lock("r")); });
  REQUIRE(eventually([&] { return line.length() == 1; }));
  std::vector<std::uint64_t> before;
  for (int node = 0; node < 3; ++node) {
    before.push_back(f.logins(node));
    f.set_user(node, {">old", ">new"});
  }
  f.change_to("new");
  for (int node = 0; node < 3; ++node) {
    CHECK(eventually([&] { return f.logins(node) >= before.at(static_cast<std::size_t>(node)) + 2; }));
    f.set_user(node, {">new"});  // the old password is refused from now on
  }
  RawClient server{f.nodes.port(0)};
  server.command({"CLIENT", "KILL", "USER", "app"});  // new connections have the new password
  CHECK(eventually([&] { return waiting.ready_nodes() == 3 && f.connections(0) > 0; }));
  long long least = server.pttl("r");
  CHECK(eventually([&] {  // it is renewed
    const long long left = server.pttl("r");
    return left > std::exchange(least, left);
  }));
  CHECK(lease.state() == redlock::State::held);
  CHECK(line.length() == 1);
  CHECK(lease.release() == redlock::Release::released);
  CHECK(next.get());
  CHECK(f.warned() == 0);
}

TEST_CASE("a_connection_that_is_made_with_a_wrong_password_is_refused_while_others_go_on") {
  Fixture f;
  InspectableLock locks{f.endpoints(), f.options()};
  auto lease = lock_on_all(f, locks);
  REQUIRE(eventually([&] { return f.logins(0) == 2; }));
  f.change_to("wr0ng");
  REQUIRE(eventually([&] { return f.logins(0) > 2; }));  // the nodes get it one after the other
  RawClient{f.nodes.port(0)}.command({"CLIENT", "KILL", "USER", "app"});
  REQUIRE(eventually([&] { return locks.inspect("r").at(0).status == NodeStatus::wrong_password; }));
  for (const redlock::NodeReport& report : locks.inspect("r"))
    CHECK_THAT(report.message, !contains("wr0ng") && !contains("old"));
  CHECK(lease.extend());  // with the other two
  f.change_to("old");
  CHECK(eventually([&] { return locks.inspect("r").at(0).status == NodeStatus::held; }));
}

TEST_CASE("a_node_that_was_down_gets_the_changed_password_when_it_is_back") {
  Fixture f;
  InspectableLock locks{f.endpoints(), f.options()};
  CHECK(is_granted(locks.try_lock("r")));
  f.nodes.kill(1);
  f.change_to("new");
  for (const int node : {0, 2}) f.set_user(node, {">new"});
  f.nodes.restart_empty(1);
  f.set_user(1, {">new"});
  CHECK(eventually([&] { return is_granted(locks.try_lock("r")) && locks.ready_nodes() == 3; }));
}

TEST_CASE("a_refused_password_leaves_open_connections_alone_until_there_is_a_right_one") {
  Fixture f;
  InspectableLock locks{f.endpoints(), f.options()};
  auto lease = lock_on_all(f, locks);
  f.change_to("wr0ng");
  REQUIRE(eventually([&] { return f.warned() > 0; }));
  {
    const std::lock_guard lock{f.mutex};
    CHECK_THAT(f.warnings.front(),
               contains("refuses the new login, so open connections go on with the old one"));
    for (const std::string& warning : f.warnings) CHECK_THAT(warning, !contains("wr0ng"));
  }
  CHECK(lease.extend());
  CHECK(locks.ready_nodes() == 3);
  CHECK(locks.inspect("r").at(0).status == NodeStatus::held);
  f.set_user(0, {">wr0ng"});  // the server follows late: the client tries again
  const std::uint64_t before = f.logins(0);
  CHECK(eventually([&] { return f.logins(0) > before; }));
  f.change_to("old");
  CHECK(lease.extend());
}

TEST_CASE("a_client_that_began_with_a_wrong_password_gets_the_right_one") {
  Fixture f;
  f.change_to("wr0ng");
  InspectableLock locks{f.endpoints(), f.options()};
  CHECK(locks.try_lock("r").code() == redlock::Errc::misconfigured);
  CHECK(locks.inspect("r").at(0).status == NodeStatus::wrong_password);
  f.change_to("old");
  CHECK(eventually([&] { return is_granted(locks.try_lock("r")); }));
}

TEST_CASE("a_refused_login_has_the_source_asked_before_the_interval_is_over") {
  Fixture f;
  f.change_to("wr0ng");
  Options options = f.options();
  options.credentials_interval = 1h;
  InspectableLock locks{f.endpoints(), options};
  CHECK(locks.try_lock("r").code() == redlock::Errc::misconfigured);
  f.change_to("old");
  CHECK(eventually([&] { return is_granted(locks.try_lock("r")); }));
}

TEST_CASE("a_source_that_throws_leaves_the_last_credentials_after_one_warning") {
  Fixture f;
  std::atomic<bool> is_broken = true;
  Options options = f.options();
  options.credentials = [&](const Endpoint&) -> Credentials {
    if (is_broken) throw std::runtime_error{"no vault"};
    return {"app", "old"};
  };
  CHECK_THAT(exception_message([&] { Redlock{f.endpoints(), options}; }), contains("no vault"));
  is_broken = false;
  std::atomic<int> calls = 0;
  options.credentials = [&](const Endpoint&) -> Credentials {
    ++calls;
    if (is_broken) throw std::runtime_error{"no vault"};
    return {"app", "old"};
  };
  Redlock locks{f.endpoints(), options};
  is_broken = true;
  REQUIRE(eventually([&] { return f.warned() == 1; }));
  const int before = calls;
  REQUIRE(eventually([&] { return calls > before + 6; }));
  CHECK(f.warned() == 1);
  CHECK(is_granted(locks.try_lock("r")));
}

TEST_CASE("a_source_that_throws_for_one_node_only_causes_one_warning") {
  Fixture f;
  std::atomic<int> calls = 0;
  std::atomic<bool> is_broken = false;
  Options options = f.options();
  options.credentials = [&](const Endpoint& node) -> Credentials {
    ++calls;
    if (is_broken && node.port() == f.nodes.port(1)) throw std::runtime_error{"no vault"};
    return {"app", "old"};
  };
  Redlock locks{f.endpoints(), options};
  is_broken = true;
  REQUIRE(eventually([&] { return f.warned() == 1; }));
  const int before = calls;
  REQUIRE(eventually([&] { return calls > before + 9; }));  // two more rounds at least
  CHECK(f.warned() == 1);
}

TEST_CASE("a_source_that_blocks_delays_no_call") {
  Fixture f;
  std::atomic<bool> blocks = false;
  std::atomic<bool> is_blocked = false;
  Options options = f.options();
  options.credentials = [&](const Endpoint&) -> Credentials {
    while (blocks) {
      is_blocked = true;
      std::this_thread::sleep_for(1ms);
    }
    return {"app", "old"};
  };
  Redlock locks{f.endpoints(), options};
  blocks = true;
  REQUIRE(eventually([&] { return is_blocked.load(); }));
  CHECK(is_granted(locks.try_lock("r")));
  f.nodes.restart_empty(0);  // the connection is made anew meanwhile
  f.set_user(0, {">old"});
  CHECK(eventually([&] { return is_granted(locks.try_lock("r")); }));
  blocks = false;
}

TEST_CASE("a_source_may_destroy_its_client") {
  Fixture f;
  std::atomic<bool> destroys = false;
  std::atomic<bool> is_destroyed = false;
  std::optional<Redlock> locks;
  Options options = f.options();
  options.credentials = [&](const Endpoint&) -> Credentials {
    if (destroys.exchange(false)) {
      locks.reset();
      is_destroyed = true;
    }
    return {"app", "old"};
  };
  locks.emplace(f.endpoints(), options);
  CHECK(is_granted(locks->try_lock("r")));
  destroys = true;
  CHECK(eventually([&] { return is_destroyed.load(); }));
}

TEST_CASE("a_password_in_a_file_may_be_replaced") {
  Fixture f;
  const TempFolder folder;
  const std::string file = folder.write("password", "old\n");
  Options options = f.options();
  options.credentials = redlock::password_file(file);
  std::vector<Endpoint> nodes;
  for (int node = 0; node < 3; ++node)
    nodes.emplace_back("redis://app:@127.0.0.1:" + std::to_string(f.nodes.port(node)));
  InspectableLock locks{nodes, options};
  CHECK(is_granted(locks.try_lock("r")));
  for (int node = 0; node < 3; ++node) f.set_user(node, {">new"});
  std::filesystem::rename(folder.write("next", "new"), file);
  for (int node = 0; node < 3; ++node) CHECK(eventually([&] { return f.logins(node) == 2; }));
  std::filesystem::remove(file);
  CHECK(eventually([&] { return f.warned() > 0; }));
  CHECK(is_granted(locks.try_lock("r")));
}

TEST_CASE("a_changed_password_of_the_default_user_is_sent_on_open_connections_and_on_new_ones") {
  Fixture f;
  Observers servers{f.nodes};  // stay logged in
  servers.command({"ACL", "SETUSER", "default", ">old"});
  const TempFolder folder;
  const std::string file = folder.write("password", "old");
  Options options = f.options();
  options.credentials = redlock::password_file(file);
  Redlock locks{f.endpoints(), options};
  auto lease = locks.lock("r", {.on_lost = [](redlock::Loss) {}}).value();
  REQUIRE(eventually([&] { return servers.calls("auth") == 6; }));  // both connections to each node
  servers.command({"ACL", "SETUSER", "default", ">new"});
  std::filesystem::rename(folder.write("next", "new"), file);
  CHECK(eventually([&] { return servers.calls("auth") == 12; }));
  servers.command({"ACL", "SETUSER", "default", "<old"});
  servers.command({"CLIENT", "KILL", "TYPE", "normal"});
  CHECK(eventually([&] { return lease.extend(); }));
  CHECK(f.warned() == 0);
}
