// The raw client reports the real state of servers, which other tests rely on.
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/exception_message.hpp"
#include "support/network/raw_client.hpp"

using redlock::testing::contains;
using redlock::testing::exception_message;
using redlock::testing::LocalNodes;
using redlock::testing::RawClient;

TEST_CASE("a_raw_client_reads_and_changes_the_data_of_a_server") {
  const LocalNodes nodes{1};
  RawClient client{nodes.port(0)};
  REQUIRE(client.get("b") == std::nullopt);
  REQUIRE(client.pttl("b") == -2);
  REQUIRE(client.calls("set") == 0);
  client.command({"SET", "b", std::string{"1\0\r\n", 4}, "PX", "3600000"});
  client.command({"SET", "a", ""});
  REQUIRE(client.calls("set") == 2);
  REQUIRE(client.get("b") == std::string{"1\0\r\n", 4});
  REQUIRE(client.get("a") == "");
  REQUIRE(client.pttl("b") > 0);
  REQUIRE(client.pttl("a") == -1);
  REQUIRE(client.keys() == std::vector<std::string>{"a", "b"});
  REQUIRE(client.keys("a*") == std::vector<std::string>{"a"});
  REQUIRE(client.del("a"));
  REQUIRE_FALSE(client.del("a"));
  REQUIRE(client.info("role") == "master");
  REQUIRE(client.info("no_such_field") == std::nullopt);
}

TEST_CASE("a_raw_client_writes_replies_as_text") {
  const LocalNodes nodes{1};
  RawClient client{nodes.port(0)};
  REQUIRE(client.command({"EVAL", "return {1, 'a', {false, redis.status_reply('OK')}}", "0"}) ==
          "[1, a, [(nil), OK]]");
  REQUIRE_THAT(client.command({"NONSENSE"}), contains("-ERR unknown command"));
  client.command({"LPUSH", "list", "x"});
  REQUIRE_THAT(exception_message([&] { (void)client.get("list"); }), contains("WRONGTYPE"));
  REQUIRE(client.command({"PING"}) == "PONG");
}

TEST_CASE("a_raw_client_does_not_wait_forever") {
  LocalNodes nodes{1};
  RawClient client{nodes.port(0)};
  nodes.pause(0);
  REQUIRE_THAT(exception_message([&] { client.command({"PING"}); }), contains("no answer within 2 s"));
  RawClient other{nodes.port(0), "", std::chrono::seconds{1}};
  REQUIRE_THAT(exception_message([&] { other.command({"PING"}); }), contains("no answer within 1 s"));
  nodes.resume(0);
  REQUIRE(client.command({"PING"}) == "PONG");
}
