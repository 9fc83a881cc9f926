// Ways to connect to nodes, and the allowed numbers of nodes.
#include <array>
#include <chrono>
#include <cstdlib>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "integration/support/node_reports.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/exception_message.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::LockClient;
using redlock::NodeStatus;
using redlock::Options;
using redlock::Redlock;
using redlock::Release;
using redlock::SingleNodeLock;
using redlock::State;

/// Makes every call once and checks its outcome on healthy nodes.
void check_every_call(LockClient& locks) {
  auto lease = locks.try_lock("r");
  REQUIRE(lease);
  CHECK(lease->state() == State::held);
  CHECK(locks.try_lock("r").is_held());
  CHECK(locks.try_lock_for("r", 500ms).is_held());
  CHECK(lease->extend());
  for (const auto& report : reports_of_all(locks, "r", NodeStatus::held)) {
    CHECK(report.owner == lease->owner_value());
    CHECK((report.ttl && *report.ttl > 0ms && *report.ttl <= 30s));
  }
  CHECK(lease->release() == Release::released);
  CHECK(locks.lock("r").value().release() == Release::released);
  CHECK_FALSE(reports_of_all(locks, "r", NodeStatus::free).empty());
}

std::string on_port(const LocalNodes& nodes, const std::string& host) {
  return "redis://" + host + ":" + std::to_string(nodes.port(0));
}

}  // namespace

TEST_CASE("nodes_are_reached_over_unix_sockets") {
  LocalNodes nodes{3};
  Redlock locks{{"unix://" + nodes.socket_path(0), "unix://" + nodes.socket_path(1), nodes.url(2)}};
  check_every_call(locks);
}

TEST_CASE("a_node_is_reached_over_ipv6") {
  LocalNodes nodes{1, {.arguments = {"--bind", "127.0.0.1", "::1"}}};
  SingleNodeLock locks{on_port(nodes, "[::1]")};
  check_every_call(locks);
}

TEST_CASE("a_node_is_reached_by_name_even_if_the_first_address_refuses") {
  LocalNodes nodes{1};
  SingleNodeLock locks{on_port(nodes, "localhost")};
  check_every_call(locks);
}

TEST_CASE("locks_in_different_databases_are_independent") {
  LocalNodes nodes{1};
  SingleNodeLock three{nodes.url(0) + "/3"};
  SingleNodeLock four{"unix://" + nodes.socket_path(0) + "?db=4"};
  const auto lease = three.try_lock("r");
  REQUIRE(lease);
  check_every_call(four);
  CHECK(RawClient{nodes.port(0)}.info("db3").has_value());
}

TEST_CASE("nodes_with_a_user_and_a_password_are_logged_in_over_tcp_and_unix_sockets") {
  LocalNodes nodes{1};
  RawClient{nodes.port(0)}.command({"ACL", "SETUSER", "app", "on", ">s3cret", "~*", "+@all"});
  RawClient{nodes.port(0)}.command({"ACL", "SETUSER", "default", "off"});
  SingleNodeLock over_tcp{on_port(nodes, "app:s3cret@127.0.0.1")};
  SingleNodeLock over_socket{"unix://app:s3cret@" + nodes.socket_path(0) + "?db=2"};
  check_every_call(over_tcp);
  check_every_call(over_socket);
}

TEST_CASE("one_node_is_a_quorum_of_one") {
  LocalNodes nodes{1};
  Redlock locks{endpoints(nodes)};
  check_every_call(locks);
}

TEST_CASE("three_five_and_seven_nodes_work_the_same_way") {
  const int count = GENERATE(3, 5, 7);
  LocalNodes nodes{count};
  Redlock locks{endpoints(nodes)};
  check_every_call(locks);
}

TEST_CASE("an_even_number_of_nodes_works_and_warns_once") {
  LocalNodes nodes{4};
  std::vector<std::string> warnings;
  const auto note = [&](std::string_view warning) { warnings.emplace_back(warning); };
  Redlock locks{endpoints(nodes), {.on_warning = note}};
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], contains("4 nodes tolerate no more failures than 3"));
  check_every_call(locks);
  CHECK(warnings.size() == 1);

  warnings.clear();
  Redlock odd{{nodes.url(0), nodes.url(1), nodes.url(2)}, {.on_warning = note}};
  SingleNodeLock single{nodes.url(0), {.on_warning = note}};
  CHECK(warnings.empty());
}

TEST_CASE("half_of_the_nodes_are_not_a_majority") {
  LocalNodes nodes{4};
  Redlock locks{endpoints(nodes)};
  REQUIRE(is_granted(locks.try_lock("while all are there")));
  nodes.kill(0);
  CHECK(is_granted(locks.try_lock("r")));
  nodes.kill(1);
  REQUIRE(eventually([&] { return locks.try_lock("r").code() == redlock::Errc::no_quorum; }));
}

TEST_CASE("a_single_node_lock_has_the_same_interface") {
  LocalNodes nodes{1};
  SingleNodeLock locks{nodes.url(0)};
  check_every_call(locks);
  CHECK(std::is_base_of_v<LockClient, SingleNodeLock>);
  CHECK(std::is_base_of_v<LockClient, Redlock>);
}

TEST_CASE("a_single_node_lock_and_a_quorum_of_one_exclude_each_other") {
  LocalNodes nodes{1};
  SingleNodeLock single{nodes.url(0)};
  Redlock quorum{endpoints(nodes)};
  auto lease = single.try_lock("r");
  REQUIRE(lease);
  CHECK(quorum.try_lock("r").is_held());
  CHECK(lease->release() == Release::released);
  CHECK(is_granted(quorum.try_lock("r")));
}

TEST_CASE("creating_a_client_contacts_no_node") {
  LocalNodes nodes{1};
  RawClient server{nodes.port(0)};
  const auto connections = server.info("total_connections_received");
  {
    Redlock locks{endpoints(nodes)};
    SingleNodeLock single{nodes.url(0)};
  }
  CHECK(server.info("total_connections_received") == connections);
}

TEST_CASE("a_client_can_be_moved_while_leases_are_alive") {
  LocalNodes nodes{3};
  Redlock first{endpoints(nodes)};
  auto lease = first.try_lock("r");
  REQUIRE(lease);
  Redlock second{std::move(first)};
  CHECK(second.try_lock("r").is_held());
  Redlock third{endpoints(nodes)};
  third = std::move(second);
  CHECK(lease->release() == Release::released);
  check_every_call(third);
  CHECK_FALSE(std::is_copy_constructible_v<Redlock>);
  CHECK_FALSE(std::is_copy_assignable_v<Redlock>);
}

TEST_CASE("one_connection_to_each_node_serves_all_locks_and_threads") {
  LocalNodes nodes{1};
  RawClient server{nodes.port(0)};
  SingleNodeLock locks{nodes.url(0)};
  const std::string before = server.info("total_connections_received").value();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&locks, i] {
      for (int k = 0; k < 20; ++k) (void)locks.lock("r/" + std::to_string(i)).value().release();
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(std::stoi(server.info("total_connections_received").value()) == std::stoi(before) + 1);
}

TEST_CASE("the_label_of_a_lock_tells_others_who_has_it_and_since_when") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes)};
  const auto before = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto named = locks.lock("named", {.label = "the nightly backup"});
  const auto unnamed = locks.lock("unnamed");
  REQUIRE((named && unnamed));
  const std::optional<redlock::Holder> holder = locks.try_lock("named").holder();
  REQUIRE(holder);
  CHECK(holder->owner_value == named->owner_value());
  CHECK(holder->label == "the nightly backup");
  CHECK((holder->since >= before && holder->since <= std::chrono::system_clock::now()));
  CHECK_THAT(locks.try_lock("named").message(), contains("owner the nightly backup since "));
  CHECK(redlock::holder_of(locks.inspect("unnamed"))
            .value()
            .label.find(":" + std::to_string(::getpid()) + " ") != std::string::npos);
  CHECK(is_granted(locks.try_lock("longest", {.label = std::string(200, 'x')})));
  CHECK_THAT(locks.try_lock("longer", {.label = std::string(201, 'x')}).message(),
             contains("the label has 201 bytes; allowed: 0 to 200"));
  CHECK_THAT(RawClient{nodes.port(0)}.command({"CLIENT", "LIST"}),
             contains("name=redlock:") && contains(":" + std::to_string(::getpid())));
}

TEST_CASE("a_client_takes_any_range_of_endpoints_or_their_texts") {
  LocalNodes nodes{3};
  const std::vector<std::string> texts = nodes.urls();
  const std::list<std::string_view> views{texts.begin(), texts.end()};
  const char* const words[] = {texts[0].c_str(), texts[1].c_str(), texts[2].c_str()};
  for (Redlock& locks : std::array{Redlock{texts}, Redlock{views}, Redlock{words}, Redlock{endpoints(nodes)},
                                   Redlock{std::span{words}, Options{.connect_timeout = 1s}}}) {
    REQUIRE(eventually([&] { return is_granted(locks.try_lock("r")); }));
    CHECK(locks.inspect("r").size() == 3);
  }
}

TEST_CASE("the_environment_names_the_nodes_of_a_client_and_its_options_and_those_of_the_program_remain") {
  LocalNodes nodes{1};
  ::setenv("REDLOCK_NODES", nodes.url(0).c_str(), 1);
  ::setenv("REDLOCK_MAX_TTL", "2s", 1);
  Redlock locks = Redlock::from_environment({.key_prefix = "app:"});
  const auto lease = locks.lock("r", {.ttl = 2s});
  REQUIRE(lease);
  CHECK(RawClient{nodes.port(0)}.get("app:r") == lease->owner_value());
  CHECK_THAT(locks.try_lock("other", {.ttl = 3s}).message(), contains("max_ttl of these nodes is 2 s"));
  for (const char* const variable : {"REDLOCK_NODES", "REDLOCK_NODES_FILE", "HOME"}) ::unsetenv(variable);
  CHECK_THAT(exception_message([] { static_cast<void>(Redlock::from_environment()); }),
             contains("set REDLOCK_NODES to a comma-separated"));
}
