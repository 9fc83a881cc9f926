// The key on the servers, byte for byte, and its ttl.
#include <chrono>
#include <string>
#include <vector>

#include "integration/support/all_nodes.hpp"
#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace redlock::testing;
using redlock::NodeStatus;
using redlock::Redlock;
using redlock::Release;

}  // namespace

TEST_CASE("a_resource_may_contain_any_bytes_and_is_the_key_unchanged") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  const std::vector resources{"a"s,         " "s,
                              "\0"s,        "nul\0inside"s,
                              "\r\n"s,      "$5\r\nhello\r\n*1\r\n"s,
                              "Größe/☃/𝄞"s, "\xff\xfe"s,
                              "{tag}rest"s, "a*?[b]"s,
                              "%00%n%s"s,   "redlock"s,
                              "Redlock:x"s, std::string(4096, 'x')};
  for (const std::string& resource : resources) {
    CAPTURE(resource);
    auto lease = locks.try_lock(resource);
    REQUIRE(lease);
    CHECK(lease->resource() == resource);
    REQUIRE(eventually([&] { return servers.holding(resource, lease->owner_value()) == 3; }));
    for (auto& server : servers) CHECK(server.locks() == std::vector{resource});
    CHECK(locks.try_lock(resource).is_held());
    for (const auto& report : locks.inspect(resource)) CHECK(report.status == NodeStatus::held);
    CHECK(lease->extend());
    CHECK(lease->release() == Release::released);
    CHECK(eventually([&] { return servers.empty() == 3; }));
  }
}

TEST_CASE("the_key_prefix_precedes_every_resource") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), {.key_prefix = "app:\r\n:"}};
  Redlock without{endpoints(nodes)};
  auto lease = locks.try_lock("r");
  REQUIRE(lease);
  CHECK(lease->resource() == "r");
  REQUIRE(eventually([&] { return servers.holding("app:\r\n:r", lease->owner_value()) == 3; }));
  CHECK(is_granted(without.try_lock("r")));
  CHECK(without.try_lock("app:\r\n:r").is_held());
  CHECK(lease->extend());
  CHECK(lease->release() == Release::released);
  CHECK(eventually([&] { return servers.empty() == 3; }));
}

TEST_CASE("the_ttl_on_the_servers_is_the_requested_one") {
  struct Case {
    redlock::Duration asked;
    std::chrono::milliseconds sent;
  };
  LocalNodes nodes{1, {.arguments = {"--slowlog-log-slower-than", "0"}}};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes), redlock::Options{.max_ttl = std::chrono::hours{24 * 365}}};
  for (const auto& [asked, sent] :
       {Case{10ms, 10ms}, Case{60s, 60000ms}, Case{std::chrono::duration<double>{45.0001}, 45001ms},
        Case{30000001us, 30001ms}, Case{std::chrono::hours{24 * 365}, 31536000000ms}}) {
    CAPTURE(sent.count());
    servers[0].command({"SLOWLOG", "RESET"});
    static_cast<void>(locks.try_lock("r", {.ttl = asked, .fencing = false}));  // 10 ms may be too short
    CHECK_THAT(servers[0].command({"SLOWLOG", "GET"}),
               contains("NX, PX, " + std::to_string(sent.count()) + "]"));
  }
}

TEST_CASE("copies_live_for_the_requested_ttl_and_no_longer") {
  LocalNodes nodes{3};
  Observers servers{nodes};
  Redlock locks{endpoints(nodes)};
  reach_all(locks, servers);
  const auto lease = locks.try_lock("r", {.ttl = 60s});
  REQUIRE(lease);
  REQUIRE(eventually([&] { return servers.having("r") == 3; }));
  for (auto& server : servers) {
    CHECK(server.pttl("r") <= 60000);
    CHECK(server.pttl("r") > 30000);
  }
}
