// Packets are lost, and rules without effect are reported.
#include <future>
#include <string>

#include "chaos/field/packets.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/exception_message.hpp"
#include "testing/fd.hpp"
#include "testing/loopback_port.hpp"
#include "testing/process.hpp"

namespace {

using redlock::chaos::drop_packets;
using redlock::chaos::enter_own_network;
using redlock::chaos::is_answered;
using namespace redlock::testing;

/// Calls it in a thread in a network of its own, where packets can be lost.
template <class Test>
void in_own_network(const Test& test) {
  std::async(std::launch::async, [&] {
    if (const std::string refusal = enter_own_network(); !refusal.empty())
      WARN("skipped: " << refusal);
    else
      test();
  }).get();
}

}  // namespace

TEST_CASE("packets_to_a_port_or_from_it_are_lost_until_the_fault_ends") {
  in_own_network([] {
    const detail::LoopbackPort port;
    const detail::Fd listening = port.listen();
    const auto is_reached = [&] { return is_answered(port.number()); };
    CHECK(eventually(is_reached));
    for (const Direction direction : {Direction::both, Direction::to_server, Direction::to_client}) {
      drop_packets(port.number(), direction, true);
      CHECK_FALSE(is_reached());
      drop_packets(port.number(), direction, false);
      CHECK(eventually(is_reached));
    }
  });
}

TEST_CASE("rules_that_drop_no_packet_are_no_fault") {
  in_own_network([] {
    const detail::LoopbackPort port;
    const detail::Fd listening = port.listen();
    REQUIRE(detail::reap(
        detail::launch({.arguments = {*detail::find_program("nft"), "flush chain inet chaos arriving"}})));
    CHECK_THAT(exception_message([&] { drop_packets(port.number(), Direction::both, true); }),
               contains("nft drops no packets of port " + std::to_string(port.number())));
  });
}
