// Connections that cannot be made, break, or do not keep up.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "integration/support/proxies.hpp"
#include "integration/support/refusal.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Errc;
using redlock::Error;
using redlock::NodeStatus;
using redlock::Redlock;
using redlock::Release;
using redlock::SingleNodeLock;

/// A node behind a proxy. The connection breaks after the node executed the SET and before the answer arrives.
struct BreakingConnection {
  LocalNodes nodes{1};
  RawClient server{nodes.port(0)};
  Proxy proxy{nodes.port(0)};
  SingleNodeLock locks{proxy.url(), {.connect_timeout = 20s, .node_timeout = 20s}};
  std::uint64_t scripts = 0;  // before

  Error break_an_attempt(redlock::Duration ttl, Cut how, bool for_good = false) {
    CHECK(locks.lock("warm-up").value().release() == Release::released);
    scripts = server.calls("evalsha");
    const auto sets = server.attempts();
    proxy.stall(true, Direction::to_client);
    const std::jthread cutter{[&] {
      (void)eventually([&] { return server.attempts() > sets; });
      if (for_good) proxy.refuse(true);
      proxy.cut(how);
      proxy.stall(false);
    }};
    return error_of([&] { (void)locks.try_lock("r", {.ttl = ttl}).value(); });
  }
};

}  // namespace

TEST_CASE("a_refused_connection_is_unreachable") {
  LocalNodes nodes{1};
  nodes.kill(0);
  SingleNodeLock locks{nodes.url(0)};
  check_refused(locks, Errc::no_quorum, NodeStatus::unreachable, "Connection refused");
  CHECK(inspection_finds(locks, 0, NodeStatus::unreachable));
}

TEST_CASE("a_missing_socket_is_unreachable") {
  SingleNodeLock locks{"unix:///no/such/socket"};
  check_refused(locks, Errc::no_quorum, NodeStatus::unreachable, "No such file or directory");
}

TEST_CASE("a_nonexistent_host_name_is_unreachable") {
  // A label of 64 bytes is invalid, so that no name server is asked.
  SingleNodeLock locks{"redis://" + std::string(64, 'x') + ".invalid", {.connect_timeout = 20s}};
  check_refused(locks, Errc::no_quorum, NodeStatus::unreachable, "cannot resolve the host name: ");
}

TEST_CASE("a_server_that_accepts_and_never_answers_is_timed_out") {
  LocalNodes nodes{1};
  nodes.pause(0);
  SingleNodeLock locks{nodes.url(0), {.connect_timeout = 100ms, .node_timeout = 100ms}};
  check_refused(locks, Errc::no_quorum, NodeStatus::timed_out, "no connection within the connect timeout");
}

TEST_CASE("a_server_that_stops_answering_is_timed_out_and_then_its_connection_is_given_up") {
  LocalNodes nodes{1};
  SingleNodeLock locks{nodes.url(0), {.connect_timeout = 200ms, .node_timeout = 50ms}};
  REQUIRE(is_granted(locks.try_lock("warm-up")));
  nodes.pause(0);
  check_refused(locks, Errc::no_quorum, NodeStatus::timed_out, "no answer within 50 ms");
  REQUIRE(eventually([&] { return locks.inspect("r")[0].message == "the connection stopped responding"; }));
  check_refused(locks, Errc::no_quorum, NodeStatus::timed_out, "");
}

TEST_CASE("a_connection_that_breaks_before_the_answer_is_connection_lost") {
  const Cut how = GENERATE(Cut::reset, Cut::close);
  BreakingConnection b;
  const Error error = b.break_an_attempt(600s, how);
  CHECK(error.code() == Errc::no_quorum);
  CHECK(error.nodes()[0].status == NodeStatus::connection_lost);
  CHECK_THAT(error.what(),
             contains(how == Cut::reset ? "connection lost (Connection reset by peer)"
                                        : "connection lost (the server closed the connection)"));
  // The release was sent on the next connection.
  CHECK(eventually([&] { return b.server.locks().empty(); }));
}

TEST_CASE("a_copy_on_a_node_that_stays_unreachable_expires") {
  BreakingConnection b;
  CHECK(b.break_an_attempt(1500ms, Cut::reset, true).code() == Errc::no_quorum);
  CHECK(eventually([&] { return b.server.locks().empty(); }));
  CHECK(b.server.calls("evalsha") == b.scripts + 1);  // the grant
}

TEST_CASE("a_half_closed_connection_is_replaced") {
  LocalNodes nodes{1};
  Proxy proxy{nodes.port(0)};
  SingleNodeLock locks{proxy.url(), {.connect_timeout = 20s}};
  REQUIRE(is_granted(locks.try_lock("warm-up")));
  proxy.half_close();
  const std::error_code ec = locks.try_lock("r").code();
  CHECK((!ec || ec == Errc::no_quorum));  // depends on whether the FIN arrived before the call
  CHECK(eventually([&] { return is_granted(locks.try_lock("r")); }));
}

TEST_CASE("a_node_that_does_not_keep_up_is_overloaded_and_does_not_slow_the_others") {
  LocalNodes nodes{3};
  Redlock locks{endpoints(nodes), {.node_timeout = 20s}};  // so the connection is given up after 80 s
  const std::string resource(4096, 'x');
  const auto cycle = [&] { return locks.lock(resource).value().release(); };
  REQUIRE(cycle() == Release::released);
  nodes.pause(1);
  // The kernel buffers some megabytes before the library's buffer begins to fill.
  bool all_released = true;
  for (int i = 0; i < 3000; ++i) all_released = cycle() == Release::released && all_released;
  CHECK(all_released);
  CHECK(inspection_finds(locks, 1, NodeStatus::overloaded));
  CHECK(locks.inspect("r")[1].message == "more than 1.5 MiB are waiting to be sent");

  nodes.resume(1);
  Observers servers{nodes};
  REQUIRE(eventually([&] { return all_grant(locks, servers, "r"); }));
  CHECK(eventually([&] { return servers.empty() == 3; }));
}
