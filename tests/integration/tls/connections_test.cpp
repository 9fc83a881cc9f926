// TLS connections that cannot be made, break, or are closed.
#include <chrono>
#include <string>
#include <thread>

#include "integration/support/fake_server.hpp"
#include "integration/support/measure.hpp"
#include "integration/support/refusal.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/network/proxy.hpp"
#include "support/one_shot_event.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::NodeStatus;
using redlock::Options;
using redlock::Redlock;
using redlock::Release;
using redlock::SingleNodeLock;

std::string url_at(std::uint16_t port) { return "rediss://127.0.0.1:" + std::to_string(port); }

/// A TLS node behind a proxy.
struct Behind {
  LocalNodes nodes{1, {.tls = true}};
  Proxy proxy{nodes.port(0)};
  std::string url = url_at(proxy.port());
  Options options{.connect_timeout = 20s, .node_timeout = 20s, .tls = nodes.tls_options()};

  /// Asks over a connection without the proxy.
  bool is_free(const std::string& resource) {
    SingleNodeLock reader{nodes.url(0), {.connect_timeout = 20s, .tls = nodes.tls_options()}};
    return reader.inspect(resource).at(0).status == NodeStatus::free;
  }
};

}  // namespace

TEST_CASE("a_server_without_tls_is_timed_out_because_it_does_not_answer_the_handshake") {
  LocalNodes nodes{1};
  SingleNodeLock locks{url_at(nodes.port(0)), {.connect_timeout = 200ms}};
  check_refused(locks, Errc::no_quorum, NodeStatus::timed_out, "the server may not speak TLS at this port");
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
  // It may see the alert of the server, or only the end of the connection.
  CHECK(locks.try_lock("r").code() == Errc::no_quorum);
}

TEST_CASE("a_server_that_stops_in_the_handshake_is_timed_out") {
  Behind node;
  node.proxy.stall(true, Direction::to_client);
  node.options.connect_timeout = 200ms;
  SingleNodeLock locks{node.url, node.options};
  check_refused(locks, Errc::no_quorum, NodeStatus::timed_out, "no connection within the connect timeout");
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
  Redlock locks{nodes.urls(), {.connect_timeout = 20s, .tls = nodes.tls_options()}};
  Redlock other{nodes.urls(), {.connect_timeout = 20s, .tls = nodes.tls_options()}};
  OneShotEvent lost;
  auto lease = locks.lock("r", {.ttl = 60s, .on_lost = [&](redlock::Loss) { lost.set(); }}).value();
  auto adopted = other.adopt({"r", lease.owner_value(), lease.fencing_token()});
  REQUIRE(adopted);
  CHECK(adopted->release() == Release::released);
  lost.wait();
}

TEST_CASE("many_commands_at_once_fill_more_than_the_socket_takes") {
  Behind node;
  SingleNodeLock locks{node.url, node.options};
  node.proxy.set_delay(5ms, 5ms);
  // Long names, so that a batch has many records.
  for (int count = 0; count < 20; ++count) {
    const std::string name = std::to_string(count) + std::string(4000, 'x');
    CHECK(locks.lock(name, {.ttl = 60s}).value().release() == Release::released);
  }
}
