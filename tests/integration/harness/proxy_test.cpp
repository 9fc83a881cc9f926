// The proxy simulates the network faults that other tests rely on.
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/harness/wire.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/proxy.hpp"
#include "support/network/raw_client.hpp"

using namespace std::chrono_literals;
using redlock::testing::Cut;
using redlock::testing::Direction;
using redlock::testing::eventually;
using redlock::testing::LocalNodes;
using redlock::testing::Proxy;
using redlock::testing::RawClient;
using redlock::testing::Wire;

namespace {

struct Path {
  LocalNodes nodes{1};
  Proxy proxy{nodes.port(0)};
  RawClient server{nodes.port(0)};  // without the proxy
};

const std::string kPong = "+PONG\r\n";

}  // namespace

TEST_CASE("a_proxy_forwards_both_ways_and_counts") {
  Path path;
  Wire first{path.proxy.port()};
  Wire second{path.proxy.port()};
  first.send("PING");
  second.send("PING");
  REQUIRE(first.receive(7) == kPong);
  REQUIRE(second.receive(7) == kPong);
  const auto counters = path.proxy.counters();
  REQUIRE(counters.connections == 2);
  REQUIRE(counters.open == 2);
  REQUIRE(counters.bytes_to_server == 12);
  REQUIRE(counters.bytes_to_client == 14);
  REQUIRE(path.proxy.late(0ms) == 2);
  REQUIRE(path.proxy.url() == "redis://127.0.0.1:" + std::to_string(path.proxy.port()));
}

TEST_CASE("a_connection_that_its_client_closes_is_forgotten") {
  Path path;
  { Wire{path.proxy.port()}.send("PING"); }
  REQUIRE(eventually([&] { return path.proxy.counters().open == 0; }));
  REQUIRE(path.proxy.counters().connections == 1);
}

TEST_CASE("a_delayed_answer_is_late_and_counted_as_late") {
  Path path;
  path.proxy.set_delay(20ms, 60ms);
  Wire wire{path.proxy.port()};
  const auto start = std::chrono::steady_clock::now();
  wire.send("PING");
  REQUIRE(wire.receive(7) == kPong);
  REQUIRE(std::chrono::steady_clock::now() - start >= 80ms);
  REQUIRE(path.proxy.late(60ms) == 1);
  REQUIRE(path.proxy.late(20ms, Direction::to_server) == 1);
  REQUIRE(path.proxy.late(20ms, Direction::both) == 2);
}

TEST_CASE("jitter_keeps_the_order_of_answers") {
  Path path;
  path.proxy.set_jitter(3ms, 42);  // the first delay is 1.7 ms
  Wire wire{path.proxy.port()};
  std::string expected;
  for (int i = 100; i < 300; ++i) {
    wire.send("ECHO " + std::to_string(i));
    expected += "$3\r\n" + std::to_string(i) + "\r\n";
  }
  REQUIRE(wire.receive(expected.size()) == expected);
  REQUIRE(path.proxy.late(1ms, Direction::to_server) >= 1);
}

TEST_CASE("a_shorter_delay_does_not_overtake_a_longer_one") {
  Path path;
  Wire wire{path.proxy.port()};
  path.proxy.set_delay(100ms, 0ms);
  wire.send("ECHO 1");
  path.proxy.set_delay(0ms, 0ms);
  wire.send("ECHO 2");
  REQUIRE(wire.receive(14) == "$1\r\n1\r\n$1\r\n2\r\n");
}

TEST_CASE("stalled_bytes_arrive_when_the_stall_ends") {
  Path path;
  Wire wire{path.proxy.port()};
  wire.send("PING");
  wire.receive(7);
  path.proxy.stall(true);
  wire.send("SET key value");
  const auto counters = path.proxy.counters();
  REQUIRE(counters.bytes_to_server == 6);
  REQUIRE(counters.open == 1);
  REQUIRE(path.server.get("key") == std::nullopt);
  path.proxy.stall(false);
  REQUIRE(wire.receive(5) == "+OK\r\n");
}

TEST_CASE("a_stall_toward_the_client_lets_the_command_through_and_keeps_the_answer") {
  Path path;
  Wire wire{path.proxy.port()};
  path.proxy.stall(true, Direction::to_client);
  wire.send("SET key value");
  REQUIRE(eventually([&] { return path.server.get("key") == "value"; }));
  REQUIRE(path.proxy.counters().bytes_to_client == 0);
  REQUIRE(wire.silent());
  path.proxy.stall(false, Direction::to_client);
  REQUIRE(wire.receive(5) == "+OK\r\n");
}

TEST_CASE("a_stall_toward_the_server_lets_earlier_answers_through") {
  Path path;
  path.proxy.set_delay(0ms, 100ms);
  Wire wire{path.proxy.port()};
  const auto pings = path.server.calls("ping");  // the fixture has already sent some
  wire.send("PING");
  REQUIRE(eventually([&] { return path.server.calls("ping") > pings; }));
  path.proxy.stall(true, Direction::to_server);
  wire.send("SET key value");
  REQUIRE(wire.receive(7) == kPong);
  REQUIRE(path.server.get("key") == std::nullopt);
  path.proxy.stall(false, Direction::to_server);
  REQUIRE(wire.receive(5) == "+OK\r\n");
}

TEST_CASE("a_stalled_connection_stays_when_its_server_dies") {
  Path path;
  Wire wire{path.proxy.port()};
  wire.send("PING");
  wire.receive(7);
  path.proxy.stall(true);
  path.nodes.kill(0);
  REQUIRE(path.proxy.counters().open == 1);
  REQUIRE(wire.silent());
  path.proxy.stall(false);
  (void)wire.end();  // FIN or RST, depending on the kernel
}

TEST_CASE("cut_connections_end_as_requested_and_new_ones_work") {
  Path path;
  const auto [how, expected] = GENERATE(std::pair{Cut::reset, ECONNRESET}, std::pair{Cut::close, 0});
  Wire wire{path.proxy.port()};
  path.proxy.set_delay(0ms, 1h);
  wire.send("SET key value");
  REQUIRE(eventually([&] { return path.server.get("key") == "value"; }));
  path.proxy.cut(how);
  REQUIRE(wire.end() == expected);  // without the answer that was on its way
  REQUIRE(path.proxy.counters().open == 0);
  path.proxy.set_delay(0ms, 0ms);
  REQUIRE(RawClient{path.proxy.port()}.command({"PING"}) == "PONG");
}

TEST_CASE("a_connection_not_yet_accepted_is_cut_too") {
  Path path;
  Wire wire{path.proxy.port()};
  path.proxy.cut();
  REQUIRE(wire.end() == ECONNRESET);
}

TEST_CASE("a_half_closed_client_receives_nothing_more_and_can_still_send") {
  Path path;
  Wire wire{path.proxy.port()};
  path.proxy.half_close();
  REQUIRE(wire.end() == 0);
  wire.send("SET key value");
  REQUIRE(eventually([&] { return path.server.get("key") == "value"; }));
  wire.send("SET key other");
  REQUIRE(eventually([&] { return path.server.get("key") == "other"; }));
  REQUIRE(path.proxy.counters().open == 1);
}

TEST_CASE("a_half_closed_server_closes_the_connection") {
  Path path;
  Wire wire{path.proxy.port()};
  path.proxy.half_close(Direction::to_server);
  REQUIRE(wire.end() == 0);
}

TEST_CASE("new_connections_are_refused_while_existing_ones_continue") {
  Path path;
  Wire present{path.proxy.port()};
  path.proxy.refuse(true);
  REQUIRE_THROWS_AS(RawClient{path.proxy.port()}.command({"PING"}), std::runtime_error);
  present.send("PING");
  REQUIRE(present.receive(7) == kPong);
  path.proxy.refuse(false);
  REQUIRE(RawClient{path.proxy.port()}.command({"PING"}) == "PONG");
  REQUIRE(path.proxy.counters().connections == 2);
}

TEST_CASE("connections_to_a_dead_server_are_reset_until_it_is_back") {
  Path path;
  path.nodes.kill(0);
  Wire wire{path.proxy.port()};
  REQUIRE(wire.end() == ECONNRESET);
  path.nodes.restart_empty(0);
  REQUIRE(RawClient{path.proxy.port()}.command({"PING"}) == "PONG");
}

TEST_CASE("single_bytes_are_written_separately_and_all_arrive") {
  Path path;
  const std::string value(5'000, 'x');
  path.server.command({"SET", "key", value});
  Wire wire{path.proxy.port()};
  wire.send("GET key");
  REQUIRE(wire.receive(5'009) == "$5000\r\n" + value + "\r\n");
  const unsigned before = wire.segments_received();

  path.proxy.single_bytes(true);
  wire.send("GET key");
  REQUIRE(wire.receive(5'009) == "$5000\r\n" + value + "\r\n");
  // TCP may merge writes while the receiver is behind, but not the first ten, which are sent before the first
  // acknowledgement.
  REQUIRE(wire.segments_received() - before >= 10);
}

TEST_CASE("a_text_in_the_answers_is_replaced") {
  Path path;
  path.proxy.replace("abc", "wxyz");
  RawClient client{path.proxy.port()};
  REQUIRE(client.command({"ECHO", "d"}) == "d");
  REQUIRE(client.command({"APPEND", "abc", "d"}) == "1");  // not in requests
  REQUIRE(path.server.command({"GET", "abc"}) == "d");
  path.proxy.replace("def", "ghi");
  REQUIRE(client.command({"ECHO", "def abc def"}) == "ghi abc ghi");
}

TEST_CASE("bytes_that_trickle_arrive_one_after_the_other") {
  Path path;
  Wire wire{path.proxy.port()};
  path.proxy.trickle(50ms, Direction::to_client);
  const auto start = std::chrono::steady_clock::now();
  wire.send("PING");
  REQUIRE(wire.receive(7) == kPong);
  REQUIRE(std::chrono::steady_clock::now() - start >= 6 * 50ms);
  path.proxy.trickle(0ms, Direction::to_client);
  wire.send("PING");
  REQUIRE(wire.receive(7) == kPong);
  REQUIRE(path.proxy.counters().trickled_bytes == 7);
}

TEST_CASE("a_flood_follows_the_answers_to_clients_that_have_sent_the_word") {
  Path path;
  Wire concerned{path.proxy.port()};
  Wire other{path.proxy.port()};
  path.proxy.flood("+x\r\n", "INFO");
  REQUIRE(path.proxy.counters().flood_bytes == 0);
  concerned.send("INFO no-such-section");
  const std::string answer = "$0\r\n\r\n";
  REQUIRE(concerned.receive(answer.size() + 8) == answer + "+x\r\n+x\r\n");
  // The proxy sends as much as it can.
  REQUIRE(eventually([&] { return path.proxy.counters().bytes_to_client > 500'000; }));
  REQUIRE(path.proxy.counters().flood_bytes > 500'000 - answer.size());
  other.send("PING");
  REQUIRE(other.receive(7) == kPong);
}

TEST_CASE("a_proxy_rewrites_each_reply_to_a_command_and_each_message") {
  Path path;
  path.server.command({"SET", "key", std::string(100'000, 'x')});  // comes in several pieces
  path.proxy.rewrite([](const std::vector<std::string>& command, const std::string& reply) {
    const std::string words = command.empty() ? "message" : command.back();
    return words == "PING" ? std::string{} : "+" + words + " " + std::to_string(reply.size()) + "\r\n";
  });
  RawClient client{path.proxy.port()};
  CHECK(client.command({"GET", "key"}) == "key 100011");
  CHECK(client.command({"EVAL", "return {1,{'a','b'},false}", "0"}) == "0 31");
  Wire wire{path.proxy.port()};
  wire.send("*1\r\n$4\r\nPING\r\n*2\r\n$9\r\nSUBSCRIBE\r\n$4\r\nnews");
  CHECK(wire.receive(10) == "+news 33\r\n");
  path.server.command({"PUBLISH", "news", "x"});
  CHECK(wire.receive(13) == "+message 34\r\n");

  CHECK(path.proxy.counters().changed_replies == 5);

  path.proxy.rewrite({});
  CHECK(client.command({"ECHO", "key"}) == "key");
  path.proxy.rewrite([](const std::vector<std::string>&, std::string reply) { return reply; });
  CHECK(client.command({"ECHO", "key"}) == "key");
  CHECK(path.proxy.counters().changed_replies == 5);
}

TEST_CASE("threads_may_change_the_network_while_it_is_used") {
  Path path;
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (std::uint64_t i = 0; i < 3; ++i) {
    threads.emplace_back([&path, i] {
      for (int round = 0; round < 50; ++round) {
        path.proxy.set_jitter(50us, i);
        path.proxy.single_bytes(round % 2 == 0);
        path.proxy.stall(true);
        path.proxy.stall(false);
        (void)path.proxy.counters();
      }
    });
  }
  RawClient client{path.proxy.port()};
  for (int i = 0; i < 200; ++i) REQUIRE(client.command({"ECHO", std::to_string(i)}) == std::to_string(i));
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("data_larger_than_all_buffers_arrives_whole") {
  Path path;
  const std::string value(8'000'000, 'x');
  path.server.command({"SET", "key", value});
  path.proxy.stall(true, Direction::to_client);
  Wire wire{path.proxy.port()};
  wire.send("GET key");
  REQUIRE(eventually([&] { return path.server.calls("get") > 0; }));
  path.proxy.stall(false, Direction::to_client);
  REQUIRE(wire.receive(8'000'012) == "$8000000\r\n" + value + "\r\n");
}
