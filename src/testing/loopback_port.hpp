// A reserved TCP port on the loopback interface.
#pragma once

#include <cstdint>

#include "testing/fd.hpp"

namespace redlock::testing::detail {

/// A free port of 127.0.0.1, reserved for as long as this object lives.
///
/// The reservation is a socket that is bound but never listens. Linux lets a server that sets SO_REUSEADDR
/// (as Redis does) bind and listen on the same port, does not assign the port to sockets that ask for any
/// port, and refuses connections while no server listens. So a restarted server gets its port back, and a
/// client that reconnects to a dead server cannot be assigned that port as its own and connect to itself.
class LoopbackPort {
 public:
  LoopbackPort();  ///< Throws std::system_error.

  [[nodiscard]] std::uint16_t number() const noexcept { return number_; }
  /// Returns a non-blocking socket that listens on this port. Throws std::system_error.
  [[nodiscard]] Fd listen() const;

 private:
  Fd reservation_;
  std::uint16_t number_ = 0;
};

/// Returns a non-blocking socket that is connected, or still connecting, to 127.0.0.1:port. Returns an empty
/// one if that fails; errno has the reason.
[[nodiscard]] Fd connect_to_loopback(std::uint16_t port);

}  // namespace redlock::testing::detail
