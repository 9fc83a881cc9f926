#include "io/sockets/transport.hpp"

#include <sys/socket.h>

#include <cerrno>

#include "os/system_error.hpp"

namespace redlock::inline v1::detail {
namespace {

bool would_block(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

std::optional<std::size_t> PlainTransport::send(std::string_view bytes) {
  const ssize_t sent = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (would_block(errno)) return 0;
  fail({NodeStatus::connection_lost, error_text(errno)});
  return std::nullopt;
}

Transport::Received PlainTransport::receive(char* bytes, std::size_t size) {
  const ssize_t got = ::recv(fd(), bytes, size, MSG_DONTWAIT);
  if (got > 0) return {static_cast<std::size_t>(got), false, static_cast<std::size_t>(got) == size};
  if (got < 0 && would_block(errno)) return {};
  fail({NodeStatus::connection_lost, got == 0 ? "the server closed the connection" : error_text(errno)});
  return {0, true, false};
}

void PlainTransport::end_output() noexcept { ::shutdown(fd(), SHUT_WR); }

}  // namespace redlock::inline v1::detail
