// One server under two names. A majority of names would not be a majority of servers.
#include <chrono>
#include <string>
#include <system_error>
#include <vector>

#include "integration/support/observers.hpp"
#include "integration/support/refusal.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/proxy.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Endpoint;
using redlock::Errc;
using redlock::Error;
using redlock::NodeStatus;
using redlock::Redlock;

/// The first server under two names, and two other servers.
std::vector<Endpoint> one_twice(const LocalNodes& nodes, const std::string& second_name) {
  return {nodes.url(0), second_name, nodes.url(1), nodes.url(2)};
}

std::string second_name(const LocalNodes& nodes, const std::string& kind) {
  const std::string port = std::to_string(nodes.port(0));
  if (kind == "name") return "redis://localhost:" + port;
  if (kind == "socket") return "unix://" + nodes.socket_path(0);
  return "redis://127.0.0.1:" + port + "/1";  // another database of the same server
}

}  // namespace

TEST_CASE("a_server_under_two_names_is_a_configuration_error") {
  const std::string kind = GENERATE("name", "socket", "db");
  CAPTURE(kind);
  LocalNodes nodes{3};
  const std::string second = second_name(nodes, kind);
  Redlock locks{one_twice(nodes, second)};
  const auto refused = [&] {
    std::error_code ec;
    (void)locks.try_lock("r", {}, ec);
    return ec == Errc::misconfigured;
  };
  // The first connection to become ready may vote; the second one is detected.
  REQUIRE(eventually(refused));
  const Error error = error_of([&] { (void)locks.try_lock("r"); });
  CHECK(error.code() == Errc::misconfigured);
  CHECK_THAT(error.what(), contains("same node (the same server as "));
  const bool first = error.nodes()[0].status == NodeStatus::same_node;
  const auto& blamed = error.nodes()[first ? 0 : 1];
  const auto& other = error.nodes()[first ? 1 : 0];
  CHECK(blamed.status == NodeStatus::same_node);
  CHECK_THAT(blamed.message, contains("the same server as " + other.node));
}

TEST_CASE("the_attempt_that_detects_a_second_name_leaves_nothing_on_the_server") {
  const std::string kind = GENERATE("name", "socket", "db");
  CAPTURE(kind);
  LocalNodes nodes{3};
  Redlock locks{one_twice(nodes, second_name(nodes, kind))};
  for (int i = 0; i < 3; ++i) {
    std::error_code ec;
    (void)locks.try_lock("r", {.ttl = 60s}, ec);
  }
  Observers servers{nodes};
  CHECK(eventually([&] { return servers.empty() == 3; }));
  servers[0].command({"SELECT", "1"});
  CHECK(eventually([&] { return servers[0].locks().empty(); }));
}

TEST_CASE("a_second_name_detected_late_keeps_no_copy_after_the_lease") {
  LocalNodes nodes{3};
  Proxy slow{nodes.port(0)};
  slow.set_delay(0ms, 500ms);
  Redlock locks{one_twice(nodes, slow.url() + "/1"),
                {.connect_timeout = 20s, .node_timeout = 20s, .restart_guard = redlock::RestartGuard::off}};
  {
    const auto lease = locks.try_lock("r", {.ttl = 60s});
    REQUIRE(lease);  // from three servers
    REQUIRE(eventually([&] { return slow.late(500ms) > 0; }));
  }
  Observers servers{nodes};
  CHECK(eventually([&] { return servers.empty() == 3; }));
  servers[0].command({"SELECT", "1"});
  CHECK(eventually([&] { return servers[0].locks().empty(); }));
}
