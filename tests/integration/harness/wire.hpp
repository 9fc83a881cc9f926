// A raw TCP connection.
#pragma once

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "testing/fd.hpp"
#include "testing/loopback_port.hpp"

namespace redlock::testing {

/// Shows a test every received byte and how the connection ends.
class Wire {
 public:
  explicit Wire(std::uint16_t port) : fd_{detail::connect_to_loopback(port)} {}

  void send(const std::string& line) {
    const std::string bytes = line + "\r\n";
    REQUIRE(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == std::ssize(bytes));
  }

  /// Receives exactly this many bytes.
  std::string receive(std::size_t size) {
    std::string all;
    while (all.size() < size) {
      std::string more(size - all.size(), '\0');
      const ssize_t count = next(more);
      REQUIRE(count > 0);
      all.append(more, 0, static_cast<std::size_t>(count));
    }
    return all;
  }

  /// How the connection ends: 0 for FIN, otherwise the errno.
  int end() {
    std::string byte(1, '\0');
    const ssize_t count = next(byte);
    REQUIRE(count <= 0);
    return count == 0 ? 0 : errno;
  }

  [[nodiscard]] bool silent() const {
    char byte = 0;
    return ::recv(fd_.get(), &byte, 1, MSG_PEEK) == -1 && errno == EAGAIN;
  }

  [[nodiscard]] unsigned segments_received() const {
    tcp_info info{};
    socklen_t size = sizeof info;
    REQUIRE(::getsockopt(fd_.get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0);
    return info.tcpi_data_segs_in;
  }

 private:
  ssize_t next(std::string& buffer) {
    pollfd polled{fd_.get(), POLLIN, 0};
    REQUIRE(::poll(&polled, 1, 20'000) == 1);
    return ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
  }

  detail::Fd fd_;
};

}  // namespace redlock::testing
