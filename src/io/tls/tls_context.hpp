// What connections with the same TLS options share.
#pragma once

#include <memory>
#include <string>

#include "io/transport.hpp"
#include "os/descriptor.hpp"
#include "redlock/endpoint.hpp"

namespace redlock::inline v1::detail {

/// Certificates, keys and rules for handshakes.
class TlsContext {
 public:
  /// Reads the files that the options name. Throws `Error` (invalid_argument) if one of them cannot be used, or if this
  /// build of the library has no TLS.
  static std::shared_ptr<TlsContext> make(const TlsOptions&);
  virtual ~TlsContext() = default;

  /// Returns the transport over a connected socket, which has yet to shake hands. `host`: of the endpoint.
  [[nodiscard]] virtual std::unique_ptr<Transport> secure(Descriptor socket, const std::string& host) = 0;
};

}  // namespace redlock::inline v1::detail
