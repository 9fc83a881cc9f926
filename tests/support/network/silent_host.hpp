// A host that is there and does not answer.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "testing/fd.hpp"

namespace redlock::testing {

/// A host that does not answer a new connection: the queue of those that nobody has accepted is full.
class SilentHost {
 public:
  SilentHost(const char* host, std::uint16_t port) : address_{address_of(host, port)} {
    REQUIRE(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_) == 0);
    REQUIRE(::listen(listener_.get(), 0) == 0);
    do {
      REQUIRE(fillers_.size() < 100);
      fillers_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      ::connect(fillers_.back().get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_);
    } while (is_ready(fillers_.back(), POLLOUT, 200));
  }

  /// Takes new connections from now on.
  void wake() {
    fillers_.clear();
    while (is_ready(listener_, POLLIN, 100)) accept();
  }
  /// Somebody has connected since it woke up.
  [[nodiscard]] bool is_called() const { return is_ready(listener_, POLLIN, 0); }

 private:
  static sockaddr_in address_of(const char* host, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, host, &address.sin_addr);
    return address;
  }
  static bool is_ready(const detail::Fd& socket, short events, int milliseconds) {
    pollfd poll{socket.get(), events, 0};
    return ::poll(&poll, 1, milliseconds) == 1;
  }
  void accept() const {
    const detail::Fd ignored{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  }

  sockaddr_in address_;
  detail::Fd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::vector<detail::Fd> fillers_;
};

}  // namespace redlock::testing
