#include "chaos/field/packets.hpp"

#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <system_error>

#include "testing/fd.hpp"
#include "testing/loopback_port.hpp"
#include "testing/process.hpp"

namespace redlock::chaos {
namespace {

using testing::Direction;

std::string reason() { return std::generic_category().message(errno); }

/// Returns whether the program `nft` accepts the commands.
bool filter(const std::string& commands) {
  const auto program = testing::detail::find_program("nft");
  int status = 0;
  return program && ::waitpid(testing::detail::launch({.arguments = {*program, commands}}), &status, 0) > 0 &&
         status == 0;
}

bool start_loopback() {
  const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq device{};
  std::strcpy(device.ifr_name, "lo");
  device.ifr_flags = IFF_UP | IFF_RUNNING;
  const bool is_up = ::ioctl(any, SIOCSIFFLAGS, &device) == 0;
  ::close(any);
  return is_up;
}

}  // namespace

std::string enter_own_network() {
  if (!testing::detail::find_program("nft")) return "there is no nft (Debian: nftables)";
  if (::unshare(CLONE_NEWNET) != 0) return "a network namespace: " + reason();
  if (!start_loopback()) return "the loopback device: " + reason();
  const bool is_ready = filter(
      "add table inet chaos;"
      "add set inet chaos to_server { type inet_service; };"
      "add set inet chaos to_client { type inet_service; };"
      "add chain inet chaos arriving { type filter hook input priority 0; };"
      "add rule inet chaos arriving tcp dport @to_server drop;"
      "add rule inet chaos arriving tcp sport @to_client drop");
  return is_ready ? "" : "nft is refused";
}

bool is_answered(std::uint16_t port) {
  const testing::detail::Fd connection = testing::detail::connect_to_loopback(port);
  if (!connection) return true;
  pollfd answer{connection.get(), POLLOUT, 0};
  return ::poll(&answer, 1, 50) != 0;
}

void drop_packets(std::uint16_t port, Direction direction, bool on) {
  const auto change = [&](const std::string& set) {
    return std::string{on ? "add" : "delete"}.append(" element inet chaos ").append(set).append(" { ") +
           std::to_string(port) + " };";
  };
  std::string commands;
  if (direction != Direction::to_client) commands += change("to_server");
  if (direction != Direction::to_server) commands += change("to_client");
  if (!filter(commands)) throw std::runtime_error{"nft refuses: " + commands};
  if (on && is_answered(port))
    throw std::runtime_error{"nft drops no packets of port " + std::to_string(port) + " after: " + commands};
}

}  // namespace redlock::chaos
