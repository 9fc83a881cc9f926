// Nodes report changes of a lock.
#include "tool/locks/change_listeners.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/documented_rights.hpp"
#include "integration/support/observers.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/proxy.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Clock;
using redlock::tool::ChangeListeners;

namespace {

constexpr auto patience = 20s;

/// Whether so many nodes report changes. What was reported until then is forgotten.
bool are_listening(ChangeListeners& listeners, std::size_t nodes) {
  if (!eventually([&] { return listeners.listening() == nodes; })) return false;
  static_cast<void>(listeners.wait(Clock::now()));
  return true;
}

bool report_a_change(ChangeListeners& listeners) { return listeners.wait(Clock::now() + patience); }

}  // namespace

TEST_CASE("every_node_reports_each_change_of_the_key") {
  LocalNodes nodes{3};
  ChangeListeners listeners{endpoints(nodes), {"order/17"}};
  REQUIRE(are_listening(listeners, 3));
  for (RawClient& server : Observers{nodes}) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"SET", "order/17", "a", "PX", "3600000"},
          {"PEXPIRE", "order/17", "1800000"},
          {"EVAL", "return redis.call('DEL', KEYS[1])", "1", "order/17"},
          {"FLUSHALL"}}) {
      CAPTURE(command.front());
      server.command(command);
      CHECK(report_a_change(listeners));
    }
    server.command(
        {"SET", "order/17", "a", "PX", "1"});  // one report for the value, and one when it has expired
    CHECK(report_a_change(listeners));
    CHECK(eventually([&] { return server.get("order/17") == std::nullopt; }));
    CHECK(report_a_change(listeners));
  }
  CHECK(listeners.deaf() == 0);
}

TEST_CASE("changes_of_other_keys_are_not_reported") {
  LocalNodes nodes{1};
  ChangeListeners listeners{endpoints(nodes), {"order/17"}};
  REQUIRE(are_listening(listeners, 1));
  RawClient server{nodes.port(0)};
  for (const char* const key : {"order/1", "order/170", "another"}) server.command({"SET", key, "a"});
  CHECK_FALSE(listeners.wait(Clock::now() + 50ms));
  server.command({"SET", "order/17", "a"});
  CHECK(report_a_change(listeners));
}

TEST_CASE("changes_of_several_keys_are_reported_also_if_one_begins_with_another") {
  LocalNodes nodes{1};
  RawClient server{nodes.port(0)};
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{"r", "another"}, {"r", "redlock:s:{r}"}}) {
    ChangeListeners listeners{endpoints(nodes), keys};
    REQUIRE(are_listening(listeners, 1));
    CHECK(listeners.deaf() == 0);
    for (const std::string& key : keys) {
      server.command({"SET", key, "a"});
      CHECK(report_a_change(listeners));
    }
  }
}

TEST_CASE("a_node_that_was_away_reports_changes_again") {
  LocalNodes nodes{2};
  nodes.kill(0);
  ChangeListeners listeners{endpoints(nodes), {"r"}};
  REQUIRE(are_listening(listeners, 1));
  nodes.restart_empty(0);
  CHECK(report_a_change(listeners));  // it may have changed meanwhile
  REQUIRE(are_listening(listeners, 2));
  nodes.kill(1);
  CHECK(report_a_change(listeners));
  CHECK(eventually([&] { return listeners.listening() == 1; }));
  RawClient{nodes.port(0)}.command({"SET", "r", "a"});
  CHECK(report_a_change(listeners));
  CHECK(listeners.deaf() == 0);
}

TEST_CASE("the_documented_rights_let_a_user_listen_and_without_them_the_node_is_deaf") {
  LocalNodes nodes{1};
  RawClient server{nodes.port(0)};
  const auto allow = [&](const std::string& user, const std::string& missing) {
    std::vector<std::string> command{"ACL", "SETUSER", user, "on", ">tuna"};
    for (const std::string& right : documented_rights())
      if (right != missing) command.push_back(right);
    REQUIRE(server.command(command) == "OK");
    return std::vector<redlock::Endpoint>{"redis://" + user +
                                          ":tuna@127.0.0.1:" + std::to_string(nodes.port(0))};
  };
  ChangeListeners listeners{allow("all", ""), {"app:r"}};
  CHECK(are_listening(listeners, 1));
  for (const std::string right : {"+client|id", "+client|tracking", "+subscribe", "&__redis__:invalidate"}) {
    CAPTURE(right);
    const ChangeListeners none{allow("u" + right.substr(right.size() - 3), right), {"app:r"}};
    CHECK(eventually([&] { return none.deaf() == 1; }));
    CHECK(none.listening() == 0);
  }
}

TEST_CASE("a_node_that_refuses_the_login_is_not_taken_for_one_that_cannot_report_changes") {
  LocalNodes nodes{1, {.password = "right"}};
  const ChangeListeners listeners{{"redis://127.0.0.1:" + std::to_string(nodes.port(0))}, {"r"}};
  RawClient server{nodes.port(0), "right"};
  REQUIRE(
      eventually([&] { return server.calls("client|id") > 0 || server.info("total_error_replies") != "0"; }));
  CHECK(listeners.deaf() == 0);
}

TEST_CASE("listeners_end_at_once_whatever_their_nodes_do") {
  LocalNodes nodes{3};
  Proxy silent{nodes.port(1)};
  silent.stall(true, Direction::to_client);
  ChangeListeners listeners{{nodes.url(0), silent.url(), nodes.url(2)}, {"r"}};
  REQUIRE(are_listening(listeners, 2));
  nodes.pause(2);
  std::stop_source stop;
  stop.request_stop();
  CHECK_FALSE(listeners.wait(Clock::time_point::max(), stop.get_token()));
}  // waits for none of the nodes, else for ever
