#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/network/proxy.hpp"

using namespace redlock::testing;
using namespace std::chrono_literals;

TEST_CASE("a_node_that_is_always_slower_than_the_others_has_copies_of_readers") {
  const LocalNodes nodes{3};
  Proxy slow{static_cast<std::uint16_t>(nodes.port(2))};
  redlock::Redlock locks{std::vector<redlock::Endpoint>{
      redlock::Endpoint{nodes.url(0)}, redlock::Endpoint{nodes.url(1)}, redlock::Endpoint{slow.url()}}};
  REQUIRE(locks.try_lock("another").is_held() == false);  // all are connected
  slow.set_delay(0ms, 50ms);
  const redlock::Lease reader = locks.try_lock("r", {.shared = true}).value();
  CHECK(eventually([&] { return redlock::readers_in(locks.inspect("r")).size() == 1; }));
  CHECK(eventually([&] {
    const auto reports = locks.inspect("r");
    return std::ranges::all_of(reports, [](const auto& node) { return node.readers.size() == 1; });
  }));
}
