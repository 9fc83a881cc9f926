#include "tool/probe/dialogue.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <optional>

namespace redlock::tool {

using detail::Connection;

/// Returns false when the time is over.
bool Dialogue::wait(bool has_unsent, Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  pollfd socket{connection_.fd(), connection_.events(has_unsent), 0};
  if (left.count() > 0 && ::poll(&socket, 1, static_cast<int>(left.count())) != 0) return true;
  trouble_ = "no answer in time";
  return false;
}

bool Dialogue::connect(Clock::time_point until) {
  Connection::Dial dial = connection_.dial();
  while (dial == Connection::Dial::pending) {
    if (!wait(false, until)) return false;
    dial = connection_.proceed();
  }
  if (dial == Connection::Dial::failed) trouble_ = connection_.trouble().message;
  return dial == Connection::Dial::connected;
}

std::vector<core::Reply> Dialogue::ask(std::string commands, std::size_t count, Clock::time_point until) {
  std::vector<core::Reply> replies;
  bool is_too_much = false;
  while (replies.size() < count) {
    const std::optional<std::size_t> sent = commands.empty() ? std::size_t{0} : connection_.send(commands);
    const bool is_broken = !sent || connection_.receive([&](const core::Reply& reply) {
      is_too_much |= replies.size() == count;
      if (!is_too_much) replies.push_back(reply);
    }) == Connection::Received::failed;
    if (sent) commands.erase(0, *sent);
    if (is_broken) trouble_ = connection_.trouble().message;
    if (is_too_much) trouble_ = "it sends more than it was asked for";
    if (is_broken || is_too_much) break;
    if (replies.size() < count && !wait(!commands.empty(), until)) break;
  }
  return replies;
}

std::string Dialogue::address() const {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  std::array<char, NI_MAXHOST> host{};
  auto* const address = reinterpret_cast<sockaddr*>(&peer);
  if (::getpeername(connection_.fd(), address, &size) != 0 || peer.ss_family == AF_UNIX) return {};
  if (::getnameinfo(address, size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) return {};
  return host.data();
}

}  // namespace redlock::tool
