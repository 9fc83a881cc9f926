// Packets that are lost on their way.
#pragma once

#include <cstdint>
#include <string>

#include "support/network/proxy.hpp"

namespace redlock::chaos {

/// Moves this thread, and the threads and processes that it starts, into a network of its own, in which nftables can drop
/// packets. It has nothing but the addresses of the machine itself. Returns why the machine does not allow that, else an
/// empty string.
[[nodiscard]] std::string enter_own_network();

/// Whether the kernel answers a new connection to this port within 50 ms, be it to refuse it. It needs nothing of the program at
/// the port.
[[nodiscard]] bool is_answered(std::uint16_t port);

/// From now on, or no longer, drops the packets between clients and this port, without a word to either. Precondition: this
/// network is our own. Throws std::runtime_error if nftables refuses, or if the port is answered all the same.
void drop_packets(std::uint16_t port, testing::Direction, bool on);

}  // namespace redlock::chaos
