// Channels of a simulated server, and what its ACL forbids.
#include "simulation/server/channels.hpp"

#include <string>

#include "simulation/server/server_fixture.hpp"
#include "support/catch.hpp"

namespace {

using namespace redlock::simulation;
using redlock::testing::contains;

constexpr int a = 1;  // connections
constexpr int b = 2;

/// The messages since the last call, each with its connection.
std::string messages(ServerFixture& fixture) {
  std::string text;
  for (const Channels::Message& message : fixture.server.take_messages())
    text += std::to_string(message.subscriber) + readable(message.reply);
  return text;
}

TEST_CASE("a_message_reaches_all_subscribers_of_its_channel_and_no_others") {
  ServerFixture fixture;
  REQUIRE(fixture.command_of(a, {"SUBSCRIBE", "news", "turns"}) ==
          R"([["subscribe", "news", 1], ["subscribe", "turns", 2]])");
  REQUIRE(fixture.command_of(b, {"SUBSCRIBE", "news"}) == R"([["subscribe", "news", 1]])");
  REQUIRE(fixture.command({"PUBLISH", "news", "first"}) == "2");
  REQUIRE(fixture.command({"PUBLISH", "turns", "second"}) == "1");
  REQUIRE(fixture.command({"PUBLISH", "nothing", "third"}) == "0");
  REQUIRE(messages(fixture) ==
          R"(1["message", "news", "first"]2["message", "news", "first"]1["message", "turns", "second"])");
  REQUIRE(messages(fixture).empty());
}

TEST_CASE("a_script_publishes") {
  ServerFixture fixture;
  fixture.command_of(a, {"SUBSCRIBE", "news"});
  REQUIRE(fixture.eval("return redis.call('PUBLISH', 'news', ARGV[1])") == "1");
  REQUIRE(messages(fixture) == R"(1["message", "news", "value"])");
  REQUIRE_THAT(fixture.eval("return redis.call('SUBSCRIBE', 'news')"),
               contains("ERR This Redis command is not allowed from script"));
}

TEST_CASE("a_connection_that_has_subscribed_may_only_subscribe_unsubscribe_and_ping") {
  ServerFixture fixture;
  REQUIRE(fixture.command_of(a, {"PING"}) == R"([+"PONG"])");
  fixture.command_of(a, {"SUBSCRIBE", "news"});
  REQUIRE(fixture.command_of(a, {"PING"}) == R"([["pong", ""]])");
  REQUIRE(fixture.command_of(a, {"PING", "text"}) == R"([["pong", "text"]])");
  REQUIRE(fixture.command_of(a, {"GET", "key"}) ==
          R"([-"ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are )"
          R"(allowed in this context"])");
  REQUIRE(fixture.command_of(b, {"GET", "key"}) == "[(nil)]");
  REQUIRE(fixture.command_of(a, {"UNSUBSCRIBE"}) == R"([["unsubscribe", "news", 0]])");
  REQUIRE(fixture.command_of(a, {"GET", "key"}) == "[(nil)]");
}

TEST_CASE("subscriptions_are_counted_once_and_end_one_by_one") {
  ServerFixture fixture;
  fixture.command_of(a, {"SUBSCRIBE", "x", "x", "y", "z"});
  REQUIRE(fixture.command_of(a, {"UNSUBSCRIBE", "x", "unknown"}) ==
          R"([["unsubscribe", "x", 2], ["unsubscribe", "unknown", 2]])");
  REQUIRE(fixture.command({"PUBLISH", "x", "text"}) == "0");
  REQUIRE(fixture.command({"PUBLISH", "y", "text"}) == "1");
  REQUIRE(fixture.command_of(a, {"UNSUBSCRIBE"}) == R"([["unsubscribe", "y", 1], ["unsubscribe", "z", 0]])");
  REQUIRE(fixture.command_of(a, {"UNSUBSCRIBE"}) == R"([["unsubscribe", (nil), 0]])");
}

TEST_CASE("subscriptions_end_with_their_connection_and_with_the_server") {
  ServerFixture fixture;
  fixture.command_of(a, {"SUBSCRIBE", "news"});
  fixture.command_of(b, {"SUBSCRIBE", "news"});
  fixture.server.disconnected(a);
  REQUIRE(fixture.command({"PUBLISH", "news", "text"}) == "1");
  fixture.server.restart({}, "another", 0);
  REQUIRE(fixture.command({"PUBLISH", "news", "text"}) == "0");
}

TEST_CASE("a_server_without_data_yet_publishes_and_lets_clients_subscribe") {
  ServerFixture fixture;
  fixture.server.set_mode(Server::Mode::loading);
  REQUIRE(fixture.command_of(a, {"SUBSCRIBE", "news"}) == R"([["subscribe", "news", 1]])");
  REQUIRE(fixture.command({"PUBLISH", "news", "text"}) == "1");
}

TEST_CASE("an_acl_forbids_commands_also_in_scripts_and_after_a_restart") {
  ServerFixture fixture;
  fixture.server.set_acl({.forbidden = {"publish"}});
  fixture.server.restart({}, "another", 0);
  constexpr const char* refused = R"(-"NOPERM this user has no permissions to run the 'publish' command")";
  REQUIRE(fixture.command({"PUBLISH", "news", "text"}) == refused);
  REQUIRE(fixture.eval("redis.call('SET', KEYS[1], 1) return redis.pcall('PUBLISH', 'news', 'text')") ==
          R"(-"ERR The user executing the script can't run this command or subcommand")");
  REQUIRE(fixture.command({"GET", "key"}) == R"("1")");
  fixture.server.set_acl({});
  REQUIRE(fixture.command({"PUBLISH", "news", "text"}) == "0");
}

TEST_CASE("an_acl_restricts_channels_for_those_who_subscribe_and_those_who_publish") {
  ServerFixture fixture;
  fixture.server.set_acl({.channels = "__redis__:"});
  constexpr const char* refused =
      R"(-"NOPERM this user has no permissions to access one of the channels used as arguments")";
  REQUIRE(fixture.command_of(a, {"SUBSCRIBE", "__redis__:invalidate", "news"}) ==
          "[" + std::string{refused} + "]");
  REQUIRE(fixture.command_of(a, {"SUBSCRIBE", "__redis__:invalidate"}) ==
          R"([["subscribe", "__redis__:invalidate", 1]])");
  REQUIRE(fixture.command({"PUBLISH", "news", "text"}) == refused);
  REQUIRE(fixture.eval("return redis.pcall('PUBLISH', 'news', 'text')") ==
          R"(-"ERR The user executing the script can't publish to the channel mentioned in the command")");
  REQUIRE(fixture.command_of(a, {"UNSUBSCRIBE", "news"}) == R"([["unsubscribe", "news", 1]])");
}

}  // namespace
