// TLS connections that cannot be made, break, or are closed.
#include <poll.h>

#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "integration/process/signal_handler.hpp"
#include "integration/support/fake_server.hpp"
#include "integration/support/measure.hpp"
#include "integration/support/refusal.hpp"
#include "io/sockets/connection.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/inspectable_lock.hpp"
#include "support/network/proxy.hpp"
#include "support/one_shot_event.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Endpoint;
using redlock::Errc;
using redlock::NodeStatus;
using redlock::Options;
using redlock::Redlock;
using redlock::Release;
using redlock::SingleNodeLock;
using redlock::TlsOptions;
using redlock::detail::Connection;

std::string url_at(std::uint16_t port) { return "rediss://127.0.0.1:" + std::to_string(port); }

/// A TLS node behind a proxy.
struct Behind {
  explicit Behind(std::vector<std::string> arguments = {})
      : nodes{1, {.arguments = std::move(arguments), .tls = true}} {}

  LocalNodes nodes;
  Proxy proxy{nodes.port(0)};
  std::string url = url_at(proxy.port());
  Options options{.connect_timeout = 20s, .node_timeout = 20s, .tls = nodes.tls_options()};

  /// Asks over a connection without the proxy.
  bool is_free(const std::string& resource) {
    SingleNodeLock reader{nodes.url(0), {.connect_timeout = 20s, .tls = nodes.tls_options()}};
    return reader.inspect(resource).at(0).status == NodeStatus::free;
  }
};

/// A connection whose socket this thread polls.
struct Dialled {
  Dialled(const std::string& url, const TlsOptions& options)
      : connection{Endpoint{url}.with(options), {}, 20s} {}

  Connection::Dial dial() {
    Connection::Dial outcome = connection.dial();
    for (; outcome == Connection::Dial::pending; outcome = connection.proceed()) wait();
    return outcome;
  }
  void ping() {
    int replies = 0;
    REQUIRE(connection.send("PING\r\n") == 6);
    while (replies == 0) {
      wait();
      REQUIRE(connection.receive(room, [&](const redlock::core::Reply&) { ++replies; }) !=
              Connection::Received::failed);
    }
  }
  void wait() const {
    pollfd polled{connection.fd(), connection.events(false), 0};
    REQUIRE(::poll(&polled, 1, 20'000) == 1);
  }

  Connection connection;
  redlock::detail::Transport::Room room{};
};

}  // namespace

TEST_CASE("a_server_without_tls_is_timed_out_because_it_does_not_answer_the_handshake") {
  LocalNodes nodes{1};
  SingleNodeLock locks{url_at(nodes.port(0)), {.connect_timeout = 200ms}};
  check_refused(locks, Errc::no_quorum, NodeStatus::timed_out,
                "the server hangs, or does not speak TLS at this port");
}

TEST_CASE("a_server_that_answers_the_handshake_with_plain_text_is_misconfigured") {
  const FakeServer server{"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"};
  SingleNodeLock locks{server.url("rediss"), {.connect_timeout = 20s}};
  check_refused(locks, Errc::misconfigured, NodeStatus::tls_failed,
                "the server does not speak TLS at this port: use redis://, or the port of tls-port");
}

TEST_CASE("a_client_without_tls_gets_no_lock_at_a_tls_port") {
  LocalNodes nodes{1, {.tls = true}};
  SingleNodeLock locks{"redis://127.0.0.1:" + std::to_string(nodes.port(0)), {.connect_timeout = 20s}};
  const redlock::LockResult refused = locks.try_lock("r");
  CHECK(refused.code() == Errc::no_quorum);
  REQUIRE(refused.nodes().size() == 1);
  // It sees the alert of the server, or only the end of the connection if the server closes it at once.
  const redlock::NodeReport& report = refused.nodes()[0];
  CAPTURE(report);
  if (report.status == NodeStatus::protocol_error) {
    CHECK(report.message == "the server speaks TLS at this port: use rediss://");
  } else {
    CHECK(report.status == NodeStatus::connection_lost);
    CHECK_THAT(report.message,
               contains(" before its first reply; if it speaks TLS at this port, use rediss://"));
  }
}

TEST_CASE("a_server_that_stops_in_the_handshake_is_timed_out") {
  const bool begins = GENERATE(false, true);
  CAPTURE(begins);
  Behind node;
  if (begins)
    node.proxy.trickle(20ms, Direction::to_client);  // the server's part of the handshake takes ten seconds
  else
    node.proxy.stall(true, Direction::to_client);
  node.options.connect_timeout = 500ms;
  SingleNodeLock locks{node.url, node.options};
  check_refused(locks, Errc::no_quorum, NodeStatus::timed_out, "no connection within the connect timeout");
  CHECK(node.proxy.counters().bytes_to_server > 0);
  CHECK((node.proxy.counters().bytes_to_client > 0) == begins);
}

TEST_CASE("a_server_that_closes_within_its_part_of_the_handshake_is_unreachable") {
  const Cut cut = GENERATE(Cut::reset, Cut::close);
  Behind node;
  node.proxy.trickle(20ms, Direction::to_client);
  SingleNodeLock locks{node.url, node.options};
  const std::jthread closing{[&] {
    if (eventually([&] { return node.proxy.counters().bytes_to_client >= 10; })) node.proxy.cut(cut);
  }};
  check_refused(locks, Errc::no_quorum, NodeStatus::unreachable, "during the TLS handshake");
}

TEST_CASE("a_server_that_closes_in_the_handshake_is_unreachable") {
  const Cut cut = GENERATE(Cut::reset, Cut::close);
  Behind node;
  node.proxy.set_delay(0ms, 20s);
  SingleNodeLock locks{node.url, node.options};
  // Only when the client has sent something: an earlier end would be that of the dial, which TLS does not see.
  const std::jthread closing{[&] {
    if (eventually([&] { return node.proxy.counters().bytes_to_server > 0; })) node.proxy.cut(cut);
  }};
  check_refused(locks, Errc::no_quorum, NodeStatus::unreachable, "during the TLS handshake");
}

TEST_CASE("a_handshake_in_single_bytes_succeeds") {
  Behind node;
  node.proxy.single_bytes(true);
  SingleNodeLock locks{node.url, node.options};
  CHECK(locks.lock("r").value().release() == Release::released);
}

TEST_CASE("a_truncated_stream_is_a_lost_connection_and_is_replaced") {
  Behind node;
  SingleNodeLock locks{node.url, node.options};
  CHECK(locks.lock("warm-up").value().release() == Release::released);
  node.proxy.half_close();  // FIN without the alert that ends TLS
  CHECK(eventually([&] {
    auto lock = locks.try_lock("r");
    return lock && lock->release() == Release::released;
  }));
  CHECK(node.proxy.counters().connections >= 2);
}

TEST_CASE("a_stream_that_ends_within_a_record_is_a_lost_connection_and_is_replaced") {
  Behind node;
  InspectableLock locks{{node.url}, node.options};
  CHECK(locks.lock("warm-up").value().release() == Release::released);
  REQUIRE(eventually([&] { return locks.pending() == 0 && !locks.listens(0); }));
  const std::uint64_t before = node.proxy.counters().bytes_to_client;
  node.proxy.trickle(20ms, Direction::to_client);
  {
    const std::jthread closing{[&] {
      // The header of a record has five bytes, and what follows has more than sixteen.
      if (eventually([&] { return node.proxy.counters().bytes_to_client >= before + 7; }))
        node.proxy.half_close();
    }};
    check_refused(locks, Errc::no_quorum, NodeStatus::connection_lost, "the server closed the connection");
  }
  CHECK(node.proxy.counters().bytes_to_client < before + 21);
  node.proxy.trickle(0ms, Direction::to_client);
  CHECK(eventually([&] {
    auto lock = locks.try_lock("r");
    return lock && lock->release() == Release::released;
  }));
  CHECK(node.proxy.counters().connections >= 2);
}

TEST_CASE("a_redial_resumes_the_session_of_a_redis_server") {
  const std::string version = GENERATE("TLSv1.2", "TLSv1.3");
  CAPTURE(version);
  Behind node{{"--tls-protocols", version}};
  Dialled client{node.url, node.options.tls};
  const auto bytes_of_a_dial = [&] {
    const std::uint64_t before = node.proxy.counters().bytes_to_client;
    CHECK(client.dial() == Connection::Dial::connected);
    client.ping();  // TLS 1.3 delivers the session with the answer
    client.connection.close();
    return node.proxy.counters().bytes_to_client - before;
  };
  const std::uint64_t whole = bytes_of_a_dial();
  CHECK(bytes_of_a_dial() < whole - 300);  // without the certificate
}

TEST_CASE("servers_that_refuse_the_sessions_that_they_have_offered_are_redialled_without_them") {
  const std::string auth = GENERATE("yes", "optional", "no");
  const std::string version = GENERATE("TLSv1.2", "TLSv1.3");
  CAPTURE(auth, version);
  Behind node{{"--tls-session-caching", "no", "--tls-auth-clients", auth, "--tls-protocols", version}};
  SingleNodeLock locks{node.url, node.options};
  for (int count = 0; count < 4; ++count) {
    std::error_code why;
    CHECK(eventually([&] {
      redlock::LockResult lock = locks.try_lock("r");
      why = lock.code();
      return why == Errc::misconfigured || (lock && lock->release() == Release::released);
    }));
    CHECK_FALSE(why);  // no handshake has failed
    node.proxy.cut();
  }
}

TEST_CASE("a_session_is_a_reason_for_one_more_attempt_and_no_third") {
  Behind node;
  Dialled client{node.url, node.options.tls};
  CHECK(client.dial() == Connection::Dial::connected);
  client.ping();  // TLS 1.3 delivers the session with the answer
  client.connection.close();
  CHECK(node.proxy.counters().connections == 1);
  node.proxy.set_delay(0ms, 20s);  // for the server's part of each handshake
  const std::jthread closing{[&, seen = node.proxy.counters().bytes_to_server]() mutable {
    for (int count = 0; count < 3; ++count) {
      if (!eventually([&] { return node.proxy.counters().bytes_to_server > seen; })) return;
      seen = node.proxy.counters().bytes_to_server;
      node.proxy.cut();
    }
  }};
  CHECK(client.dial() == Connection::Dial::failed);
  CHECK(node.proxy.counters().connections == 3);
  CHECK(client.dial() == Connection::Dial::failed);
  CHECK(node.proxy.counters().connections == 4);  // the session is forgotten
}

TEST_CASE("a_release_over_tls_arrives_although_the_client_is_destroyed_before_its_answer") {
  Behind node;
  node.options.node_timeout = 50ms;
  {
    SingleNodeLock locks{node.url, node.options};
    auto lease = locks.lock("r", {.ttl = 300s}).value();
    node.proxy.set_delay(0ms, 100ms);
    CHECK(lease.release() == Release::unknown);
  }
  CHECK(eventually([&] { return node.is_free("r"); }));
}

TEST_CASE("deleted_locks_are_noticed_over_tls") {
  LocalNodes nodes{1, {.tls = true}};
  const Options options{.connect_timeout = 20s, .tls = nodes.tls_options(), .max_ttl = 600s};
  InspectableLock locks{{nodes.url(0)}, options};
  Redlock other{nodes.urls(), options};
  OneShotEvent lost;
  // Without a listener the key is read every ten seconds.
  auto lease = locks.lock("r", {.ttl = 600s, .on_lost = [&](redlock::Loss) { lost.set(); }}).value();
  auto adopted = other.adopt({"r", lease.owner_value(), lease.fencing_token()});
  REQUIRE(adopted);
  REQUIRE(eventually([&] { return locks.listens(0) && locks.pending() == 0; }));
  const auto until_lost = redlock::testing::time_of([&] {
    CHECK(adopted->release() == Release::released);
    lost.wait();
  });
  CHECK(until_lost < 5s);
}

TEST_CASE("commands_that_do_not_fit_into_the_socket_arrive_over_tls") {
  Behind node;
  node.options.node_timeout = 60s;
  InspectableLock locks{{node.url}, node.options};
  CHECK(locks.lock("warm up").value().release() == Release::released);
  REQUIRE(eventually([&] { return locks.pending() == 0; }));
  const std::uint64_t connections = node.proxy.counters().connections;
  node.proxy.stall(true);
  // Each call has more records than one.
  for (int call = 0; call < 20'000 && locks.unsent(0) < 100'000; ++call)
    CHECK_FALSE(is_granted(locks.try_lock_for(std::string(4096, 'x'), 1ms, {.ttl = 60s})));
  REQUIRE(locks.unsent(0) >= 100'000);
  node.proxy.stall(false);
  CHECK(eventually([&] { return locks.unsent(0) == 0 && locks.pending() == 0; }));
  CHECK(node.is_free(std::string(4096, 'x')));
  CHECK(locks.lock("r").value().release() == Release::released);
  CHECK(node.proxy.counters().connections == connections);  // it is the same one
}

TEST_CASE("tls_connections_closed_by_servers_raise_no_sigpipe") {
  LocalNodes nodes{3, {.tls = true}};
  check_no_sigpipe(nodes, nodes.tls_options());
}
