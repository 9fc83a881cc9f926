// Faults of servers have the effect that they should have, and one that has none is reported.
#include <chrono>
#include <string>

#include "chaos/field/nodes.hpp"
#include "redlock/endpoint.hpp"
#include "support/catch.hpp"
#include "support/exception_message.hpp"
#include "support/network/raw_client.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::chaos;
using redlock::testing::contains;
using redlock::testing::exception_message;
using redlock::testing::TempFolder;

std::chrono::nanoseconds now() { return std::chrono::system_clock::now().time_since_epoch(); }

/// Whether the server's clock is wrong by this much.
bool is_wrong_by(std::chrono::milliseconds error, const Nodes& nodes, int node) {
  const std::chrono::nanoseconds before = now();
  const std::chrono::microseconds said = nodes.clock_of(node);
  return said >= before + error - 1us && said <= now() + error;
}

}  // namespace

TEST_CASE("the_clock_of_one_server_is_wrong_until_the_fault_ends") {
  const TempFolder folder;
  Nodes nodes{2, folder.path(), CHAOS_CLOCK_LIBRARY};
  for (const int amount : {-5000, 5000}) {
    const Fault fault{.kind = Kind::node_clock, .at = 0ms, .length = 1ms, .target = 1, .amount = amount};
    nodes.begin(fault);
    CHECK(is_wrong_by(0ms, nodes, 0));
    CHECK(is_wrong_by(std::chrono::milliseconds{amount}, nodes, 1));
    nodes.end(fault);
    CHECK(is_wrong_by(0ms, nodes, 1));
  }
}

TEST_CASE("a_clock_that_stays_right_without_the_clock_library_is_no_fault") {
  const TempFolder folder;
  Nodes nodes{1, folder.path(), folder.path() / "missing.so"};
  const Fault fault{.kind = Kind::node_clock, .at = 0ms, .length = 1ms, .target = 0, .amount = -5000};
  CHECK_THAT(exception_message([&] { nodes.begin(fault); }),
             contains("node 0 has a clock that is wrong by") && contains("instead of -5000 ms"));
}

TEST_CASE("a_server_sleeps_for_the_length_of_the_fault_or_its_refusal_is_reported") {
  const TempFolder folder;
  Nodes nodes{1, folder.path(), CHAOS_CLOCK_LIBRARY};
  const Fault fault{.kind = Kind::sleep, .at = 0ms, .length = 300ms, .target = 0};
  const std::chrono::nanoseconds before = now();
  nodes.begin(fault);
  nodes.end(fault);
  CHECK(now() - before >= 300ms);
  redlock::testing::RawClient server{redlock::Endpoint{nodes.urls().front()}.port()};
  REQUIRE(server.command({"ACL", "SETUSER", "default", "-debug"}) == "OK");
  nodes.begin(fault);
  CHECK_THAT(exception_message([&] { nodes.end(fault); }), contains("node 0 refuses DEBUG SLEEP: -NOPERM"));
}
