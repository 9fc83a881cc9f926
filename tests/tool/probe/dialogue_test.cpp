// A conversation of the command with one server.
#include "tool/probe/dialogue.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include "os/wake_event.hpp"
#include "redlock/core/wire/resp.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/network/host_name.hpp"
#include "support/network/proxy.hpp"
#include "support/network/raw_client.hpp"
#include "support/network/silent_host.hpp"

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::NodeStatus;
using redlock::core::command;
using redlock::core::Reply;
using redlock::tool::Dialogue;
using redlock::tool::DialogueLimits;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

/// Long enough for a busy machine.
constexpr DialogueLimits patient{
    .connecting = 20s, .silence = 20s, .exchange = 40s, .reply = {.text = 4 * mebibyte, .elements = 1000}};

DialogueLimits with(redlock::Clock::duration silence, redlock::Clock::duration exchange) {
  DialogueLimits limits = patient;
  limits.silence = silence;
  limits.exchange = exchange;
  return limits;
}

}  // namespace

TEST_CASE("a_dialogue_returns_the_replies_in_the_order_of_the_commands") {
  const LocalNodes nodes{1, {.password = "se cret"}};
  Dialogue dialogue{nodes.url(0) + "/3", patient};
  REQUIRE(dialogue.connect());
  REQUIRE(dialogue.log_in());
  CHECK(dialogue.address() == "127.0.0.1");
  dialogue.send(command({"SET", "key", "value"}) + command({"GET", "key"}));
  dialogue.send(command({"INCR", "key"}) + command({"INFO", "keyspace"}));
  const auto replies = dialogue.receive(4);
  REQUIRE(replies.size() == 4);
  CHECK(replies[0].is(Reply::Kind::status));
  CHECK(replies[1].text == "value");
  CHECK(replies[2].is(Reply::Kind::error));
  CHECK_THAT(replies[3].text, contains("db3:keys=1"));
  CHECK_FALSE(dialogue.has_failed());
}

TEST_CASE("a_dialogue_sends_and_receives_more_than_the_connection_takes_at_once") {
  const LocalNodes nodes{1};
  Dialogue dialogue{nodes.url(0), patient};
  REQUIRE(dialogue.connect());
  const std::string value(3 * mebibyte, 'x');
  dialogue.send(command({"SET", "key", value}));
  for (int count = 0; count < 5; ++count) dialogue.send(command({"GET", "key"}));
  const auto replies = dialogue.receive(6);
  REQUIRE(replies.size() == 6);
  CHECK(replies[5].text == value);
}

TEST_CASE("a_dialogue_with_a_server_that_sends_too_much_ends") {
  const LocalNodes nodes{1};
  RawClient{nodes.port(0)}.command({"SET", "key", std::string(3 * mebibyte, 'x')});
  SECTION("too much in all") {
    Dialogue dialogue{nodes.url(0), patient};
    REQUIRE(dialogue.connect());
    for (int count = 0; count < 6; ++count) dialogue.send(command({"GET", "key"}));
    CHECK(dialogue.receive(6).size() < 6);
    CHECK(dialogue.trouble().message == "the answer is too long");
  }
  SECTION("too much in one reply") {
    Dialogue dialogue{nodes.url(0), {.connecting = 20s, .silence = 20s, .exchange = 40s}};
    REQUIRE(dialogue.connect());
    dialogue.send(command({"GET", "key"}));
    CHECK(dialogue.receive(1).empty());
    CHECK(dialogue.trouble().message == "the reply is larger than 64 KiB");
  }
  SECTION("more replies than commands") {
    Proxy proxy{nodes.port(0)};
    proxy.flood("+OK\r\n", "PING");
    Dialogue dialogue{proxy.url(), patient};
    REQUIRE(dialogue.connect());
    dialogue.send(command({"PING"}));
    while (!dialogue.has_failed()) dialogue.receive(1);
    CHECK(dialogue.trouble().message == "it sends more than it was asked for");
  }
  SECTION("the reader's own limits") {
    Proxy proxy{nodes.port(0)};
    proxy.flood("*1001\r\n", "PING");
    Dialogue dialogue{proxy.url(), patient};
    REQUIRE(dialogue.connect());
    dialogue.send(command({"PING"}));
    CHECK(dialogue.receive_at_least(2).size() == 1);
    CHECK(dialogue.trouble().status == NodeStatus::protocol_error);
  }
}

TEST_CASE("a_dialogue_waits_for_a_silent_server_no_longer_than_its_limit") {
  LocalNodes nodes{1};
  Dialogue dialogue{nodes.url(0), with(300ms, 40s)};
  REQUIRE(dialogue.connect());
  nodes.pause(0);
  dialogue.send(command({"PING"}));
  CHECK(dialogue.receive(1).empty());
  CHECK(dialogue.trouble().status == NodeStatus::timed_out);
  CHECK(dialogue.trouble().message == "no answer within 300 ms");
}

TEST_CASE("a_dialogue_waits_for_a_server_that_trickles_no_longer_than_its_limit") {
  const LocalNodes nodes{1};
  Proxy slow{nodes.port(0)};
  slow.trickle(50ms, Direction::to_client);
  Dialogue dialogue{slow.url(), with(40s, 300ms)};
  REQUIRE(dialogue.connect());
  dialogue.send(command({"ECHO", std::string(1000, 'x')}));
  CHECK(dialogue.receive(1).empty());
  CHECK(dialogue.trouble().message == "no complete answer within 300 ms");
}

TEST_CASE("a_dialogue_listens_without_a_limit_until_it_is_interrupted") {
  const LocalNodes nodes{1};
  const redlock::detail::WakeEvent interruption;
  Dialogue dialogue{nodes.url(0), with(1ms, 1ms), &interruption};
  REQUIRE(dialogue.connect());
  const std::jthread interrupts{[&] {
    std::this_thread::sleep_for(20ms);
    interruption.set();
  }};
  CHECK(dialogue.listen().empty());
  CHECK(dialogue.trouble().message == "interrupted");
}

TEST_CASE("a_dialogue_waits_for_a_connection_no_longer_than_its_limit") {
  LocalNodes nodes{1};
  nodes.pause(0);
  DialogueLimits hasty = patient;
  hasty.connecting = 100ms;
  Dialogue silent{"rediss://127.0.0.1:" + std::to_string(nodes.port(0)), hasty};
  CHECK_FALSE(silent.connect());
  CHECK(silent.trouble().status == NodeStatus::timed_out);
  CHECK(silent.trouble().message ==
        "no connection within 100 ms; it hangs, or does not speak TLS at this port");
}

TEST_CASE("a_dialogue_does_not_take_a_server_with_too_many_clients_for_a_wrong_password") {
  const LocalNodes nodes{1, {.password = "right"}};
  RawClient server{nodes.port(0), "right"};
  REQUIRE(server.command({"CONFIG", "SET", "maxclients", "1"}) == "OK");
  Dialogue dialogue{nodes.url(0), patient};
  REQUIRE(dialogue.connect());
  CHECK_FALSE(dialogue.log_in());
  CHECK(dialogue.trouble().status == NodeStatus::unreachable);
  CHECK_THAT(dialogue.trouble().message, contains("maxclients"));
}

TEST_CASE("a_dialogue_says_why_there_is_no_connection_and_no_login") {
  LocalNodes nodes{1, {.password = "right"}};
  const std::string address = "127.0.0.1:" + std::to_string(nodes.port(0));
  Dialogue wrong{"redis://:guessed@" + address, patient};
  REQUIRE(wrong.connect());
  CHECK_FALSE(wrong.log_in());
  CHECK(wrong.trouble().status == NodeStatus::wrong_password);
  CHECK_THAT(wrong.trouble().message, contains("WRONGPASS"));
  Dialogue none{"redis://" + address + "/1", patient};
  REQUIRE(none.connect());
  CHECK_FALSE(none.log_in());
  CHECK(none.trouble().status == NodeStatus::auth_required);
  nodes.kill(0);
  Dialogue dead{nodes.url(0), patient};
  CHECK_FALSE(dead.connect());
  CHECK(dead.trouble().status == NodeStatus::unreachable);
  CHECK(dead.trouble().message == "Connection refused");
}

TEST_CASE("a_dialogue_tries_the_next_address_in_time_if_the_first_one_does_not_answer") {
  const LocalNodes nodes{1};
  const auto port = static_cast<std::uint16_t>(nodes.port(0));
  const SilentHost silent{"127.0.0.2", port};
  const HostName host{"two-addresses.test", {"127.0.0.2", "127.0.0.1"}};
  DialogueLimits limits = patient;
  limits.connecting = 3s;
  Dialogue dialogue{"redis://two-addresses.test:" + std::to_string(port), limits};
  REQUIRE(dialogue.connect());
  CHECK(dialogue.address() == "127.0.0.1");
}
