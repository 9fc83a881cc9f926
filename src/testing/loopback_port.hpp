// A TCP port of this machine that nobody else gets.
#pragma once

#include <cstdint>

#include "testing/fd.hpp"

namespace redlock::testing::detail {

/// A free port of 127.0.0.1, reserved for as long as this object lives.
///
/// The reservation is a socket that is bound and never listens. Linux lets servers that set SO_REUSEADDR
/// (Redis does) bind and listen beside it, gives the port to nobody who asks for any port, and refuses
/// connections to it while no server listens. So a stopped server gets its port back, and a client that
/// redials a dead server on loopback cannot be given that very port as its own and connect to itself.
class LoopbackPort {
 public:
  LoopbackPort();  ///< Throws std::system_error.

  [[nodiscard]] std::uint16_t number() const noexcept { return number_; }
  /// A non-blocking socket that listens here. Throws std::system_error.
  [[nodiscard]] Fd listen() const;

 private:
  Fd reservation_;
  std::uint16_t number_ = 0;
};

/// A non-blocking socket that is connected, or still connecting, to 127.0.0.1:port. Empty: refused, errno
/// says why.
[[nodiscard]] Fd connect_to_loopback(std::uint16_t port);

}  // namespace redlock::testing::detail
