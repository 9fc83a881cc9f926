// Nodes with passwords, and users with limited permissions. No password is ever shown.
#include <atomic>
#include <chrono>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "integration/support/documented_rights.hpp"
#include "integration/support/fake_server.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/refusal.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Endpoint;
using redlock::Errc;
using redlock::Error;
using redlock::Lease;
using redlock::NodeStatus;
using redlock::Redlock;
using redlock::Release;
using redlock::SingleNodeLock;
using redlock::State;

const std::string password = "pa55/w@rd: %x\xc3\xa9";
const std::string encoded = "pa55%2Fw%40rd%3A%20%25x%C3%A9";
const std::string wrong = "wr0ng-passw0rd";

/// A server with a user "app", who has the password above and the given rules.
struct WithUser {
  LocalNodes nodes{1};
  RawClient server{nodes.port(0)};
  std::string url = "redis://app:" + encoded + "@127.0.0.1:" + std::to_string(nodes.port(0));

  explicit WithUser(const std::vector<std::string>& rules) { set_user(rules); }
  void set_user(const std::vector<std::string>& rules) {
    std::vector<std::string> command{"ACL", "SETUSER", "app", "reset", "on", ">" + password};
    command.insert(command.end(), rules.begin(), rules.end());
    REQUIRE(server.command(command) == "OK");
  }
};

std::string with_login(const LocalNodes& nodes, const std::string& login) {
  return "redis://" + login + "127.0.0.1:" + std::to_string(nodes.port(0));
}

}  // namespace

TEST_CASE("a_password_of_any_bytes_logs_in_the_default_user") {
  LocalNodes nodes{3, {.password = password}};
  Redlock locks{endpoints(nodes)};
  auto lease = locks.try_lock("r");
  REQUIRE(lease);
  CHECK(lease->extend());
  CHECK(lease->release() == Release::released);
}

TEST_CASE("a_user_with_the_documented_permissions_can_do_everything") {
  WithUser f{documented_rights()};
  std::atomic<int> warnings = 0;
  SingleNodeLock locks{f.url + "/1",
                       {.key_prefix = "app:", .on_warning = [&](std::string_view) { ++warnings; }}};
  std::vector<Lease> leases;
  for (const bool fencing : {true, false})
    for (const std::string resource : {"r", "{with}tag"})
      leases.push_back(locks.lock(resource + (fencing ? "" : " 2"), {.fencing = fencing}).value());
  CHECK(eventually([&] { return f.server.info("tracking_total_keys") == "4"; }));
  for (Lease& lease : leases) {
    CAPTURE(lease.resource());
    CHECK(locks.try_lock_for(lease.resource(), 500ms).is_held());
    CHECK(locks.inspect(lease.resource()).at(0).status == NodeStatus::held);
    f.server.command({"SCRIPT", "FLUSH"});
    CHECK(lease.extend());
    CHECK(lease.release() == Release::released);
  }
  CHECK(warnings == 0);
  CHECK(f.server.command({"ACL", "LOG"}) == "[]");
}

TEST_CASE("a_missing_password_is_auth_required") {
  LocalNodes nodes{1, {.password = password}};
  SingleNodeLock locks{with_login(nodes, "")};
  check_refused(locks, Errc::misconfigured, NodeStatus::auth_required, "NOAUTH");
  CHECK(inspection_finds(locks, 0, NodeStatus::auth_required));
}

TEST_CASE("a_wrong_password_is_wrong_password") {
  LocalNodes nodes{1, {.password = password}};
  const std::string login = GENERATE(":" + wrong + "@", "default:" + wrong + "@", "nobody:" + wrong + "@");
  SingleNodeLock locks{with_login(nodes, login)};
  check_refused(locks, Errc::misconfigured, NodeStatus::wrong_password, "WRONGPASS");
}

TEST_CASE("a_password_for_a_server_without_one_is_wrong_password") {
  LocalNodes nodes{1};
  SingleNodeLock locks{with_login(nodes, ":" + wrong + "@")};
  check_refused(locks, Errc::misconfigured, NodeStatus::wrong_password, "does not accept AUTH");
}

TEST_CASE("a_server_with_too_many_clients_is_unreachable_and_not_misconfigured") {
  const std::string any = GENERATE(as<std::string>{}, "", password);
  LocalNodes nodes{1, {.password = any}};
  RawClient server{nodes.port(0), any};
  REQUIRE(server.command({"CONFIG", "SET", "maxclients", "1"}) == "OK");
  SingleNodeLock locks{nodes.url(0)};
  check_refused(locks, Errc::no_quorum, NodeStatus::unreachable, "maxclients");
  REQUIRE(server.command({"CONFIG", "SET", "maxclients", "100"}) == "OK");
  CHECK(eventually([&] { return is_granted(locks.try_lock("r")); }));
}

TEST_CASE("a_server_in_protected_mode_is_misconfigured_and_its_password_is_not_wrong") {
  const FakeServer server{"-DENIED Redis is running in protected mode because protected mode is enabled\r\n"};
  std::string url = server.url();
  if (GENERATE(false, true)) url.insert(std::string{"redis://"}.size(), ":" + wrong + "@");
  SingleNodeLock locks{url};
  check_refused(locks, Errc::misconfigured, NodeStatus::no_permission, "protected mode");
}

TEST_CASE("a_wrong_password_on_a_minority_does_not_prevent_locking") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  std::vector<Endpoint> list = endpoints(nodes);
  list[1] = Endpoint{"redis://:" + wrong + "@127.0.0.1:" + std::to_string(nodes.port(1))};
  Redlock locks{list, {.restart_guard = redlock::RestartGuard::off}};
  CHECK(is_granted(locks.try_lock("r")));
  CHECK(inspection_finds(locks, 1, NodeStatus::wrong_password));
  CHECK(servers[1].attempts() == 0);
}

TEST_CASE("a_user_without_a_command_or_key_has_no_permission") {
  const std::vector<std::string> rules = GENERATE(
      std::vector<std::string>{"~*", "+@all", "-evalsha"}, std::vector<std::string>{"~*", "+@all", "-role"},
      std::vector<std::string>{"~*", "+@all", "-info"}, std::vector<std::string>{"~*", "+@all", "-script"},
      std::vector<std::string>{"~other:*", "+@all"});
  CAPTURE(rules);
  WithUser f{rules};
  SingleNodeLock locks{f.url};
  check_refused(locks, Errc::misconfigured, NodeStatus::no_permission, "NOPERM");

  f.set_user({"~*", "+@all"});  // afterwards the same client gets the lock
  CHECK(eventually([&] { return is_granted(locks.try_lock("r")); }));
}

TEST_CASE("a_user_without_the_commands_that_the_scripts_call_has_no_permission") {
  const std::string rule = GENERATE("-set", "-get", "-time");
  WithUser f{{"~*", "+@all", rule}};
  SingleNodeLock locks{f.url};
  check_refused(locks, Errc::misconfigured, NodeStatus::no_permission, "script");
}

TEST_CASE("a_user_without_access_to_the_counter_keys_has_no_permission") {
  WithUser f{{"~r", "+@all"}};
  SingleNodeLock locks{f.url};
  check_refused(locks, Errc::misconfigured, NodeStatus::no_permission, "");
  CHECK(is_granted(locks.try_lock("r", {.fencing = false})));
}

TEST_CASE("a_user_without_scripts_gets_locks_that_only_expire") {
  WithUser f{{"~*", "+@all", "-evalsha"}};
  SingleNodeLock locks{f.url};
  auto lease = locks.try_lock("r", {.ttl = 60s, .fencing = false});
  REQUIRE(lease);
  const Error error = error_of([&] { (void)lease->extend(); });
  CHECK(error.code() == Errc::misconfigured);
  REQUIRE(error.nodes().size() == 1);
  CHECK(error.nodes()[0].status == NodeStatus::no_permission);
  std::error_code ec;
  CHECK_FALSE(lease->extend(ec));
  CHECK(ec == Errc::misconfigured);
  CHECK(lease->state() == State::in_doubt);
  CHECK(lease->release() == Release::unknown);
}

TEST_CASE("no_password_appears_in_any_message") {
  std::ostringstream shown;
  const auto note = [&](auto&& call) {
    try {
      call();
      shown << "(no error)\n";
    } catch (const std::exception& error) {
      shown << error.what() << '\n';
    }
  };
  const auto note_client = [&](const Endpoint& endpoint) {
    SingleNodeLock locks{endpoint};
    note([&] { (void)locks.try_lock("r"); });
    note([&] { (void)locks.try_lock_for("r", 30ms); });
    for (const auto& report : locks.inspect("r")) shown << report << report.message << '\n';
    shown << endpoint << ' ' << endpoint.to_string() << '\n';
  };

  LocalNodes open{1};
  LocalNodes closed{1, {.password = password}};
  LocalNodes renamed{1, {.arguments = {"--rename-command", "AUTH", "LOGIN"}}};
  WithUser user{{"~other:*", "+@all"}};
  for (const LocalNodes* nodes : {&open, &closed, &renamed})
    for (const std::string& login : {":" + encoded, ":" + wrong, "app:" + encoded, "app:" + wrong})
      note_client(with_login(*nodes, login + "@"));
  note_client(user.url);
  open.kill(0);
  note_client(with_login(open, ":" + encoded + "@"));
  note_client("unix://app:" + encoded + "@/no/such/socket");
  for (const std::string& text :
       {"redis://:" + wrong + "@host:port", "redis://:" + wrong + "@", "redis://a:" + wrong + "@h/x",
        "redis://:" + wrong + "%zz@host", "redis//:" + wrong + "@host", ":" + wrong + "@host:1:2"})
    note([&] { (void)Endpoint{text}; });
  note([&] { SingleNodeLock{"rediss://:" + wrong + "@host"}; });
  const std::string twice = with_login(closed, ":" + encoded + "@");
  note([&] { Redlock{{twice, twice}}; });

  CHECK_THAT(shown.str(), contains("wrong password"));
  CHECK_THAT(shown.str(), contains("NOPERM"));
  for (const std::string& secret : {password, encoded, wrong, std::string{"pa55"}, std::string{"passw0rd"}})
    CHECK_THAT(shown.str(), !contains(secret));
}
