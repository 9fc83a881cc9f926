// Servers whose names have several addresses.
#include <chrono>
#include <cstdint>
#include <string>

#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/network/host_name.hpp"
#include "support/network/raw_client.hpp"
#include "support/network/silent_host.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::SingleNodeLock;

}  // namespace

TEST_CASE("the_first_connection_is_made_to_the_address_that_answers_and_the_next_one_begins_with_it") {
  const LocalNodes nodes{1};
  const auto port = static_cast<std::uint16_t>(nodes.port(0));
  SilentHost silent{"127.0.0.2", port};
  const HostName host{"two-addresses.test", {"127.0.0.2", "127.0.0.1"}};
  SingleNodeLock locks{"redis://two-addresses.test:" + std::to_string(port), {.connect_timeout = 3s}};
  const auto first = locks.try_lock("r");
  INFO(first.message());
  REQUIRE(is_granted(first));
  silent.wake();
  RawClient server{port};
  REQUIRE(server.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"}) == "1");
  CHECK(eventually([&] { return is_granted(locks.try_lock("r2")); }));
  CHECK_FALSE(silent.is_called());
}
