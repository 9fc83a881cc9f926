#include "testing/loopback_port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace redlock::testing::detail {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

[[noreturn]] void fail(const char* what) { throw std::system_error{errno, std::generic_category(), what}; }

Fd tcp_socket() { return Fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)}; }

Fd bound_to(std::uint16_t port) {
  Fd fd = tcp_socket();
  const int on = 1;
  const sockaddr_in address = loopback(port);
  if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail("cannot bind a loopback port");
  }
  return fd;
}

}  // namespace

LoopbackPort::LoopbackPort() : reservation_{bound_to(0)} {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(reservation_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    fail("cannot read the number of a loopback port");
  }
  number_ = ntohs(address.sin_port);
}

Fd LoopbackPort::listen() const {
  Fd fd = bound_to(number_);
  if (::listen(fd.get(), SOMAXCONN) != 0) fail("cannot listen on a loopback port");
  return fd;
}

Fd connect_to_loopback(std::uint16_t port) {
  Fd fd = tcp_socket();
  if (!fd) return fd;
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const sockaddr_in address = loopback(port);
  const int result = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (result == 0 || errno == EINPROGRESS) return fd;
  const int why = errno;
  fd.reset();
  errno = why;
  return fd;
}

}  // namespace redlock::testing::detail
