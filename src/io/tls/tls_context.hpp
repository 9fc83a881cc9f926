// What connections with the same TLS options share.
#pragma once

#include <memory>
#include <string>

#include "io/sockets/transport.hpp"
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

  /// Reads the files again if one of them was replaced. If one cannot be used, handshakes go on with what was read
  /// before. Reading files may block, so do it without the client's mutex; any thread may.
  virtual void refresh() noexcept = 0;
  /// Why replaced files are not used; empty if they are.
  [[nodiscard]] virtual std::string why_old() const = 0;

  enum class Resumption { offered, none };
  /// Returns the transport over a socket that is connected to the endpoint. It has yet to shake hands. If a resumption is
  /// offered, and there was a session with that endpoint, it is resumed if the server agrees.
  [[nodiscard]] virtual std::unique_ptr<Transport> secure(Descriptor socket, const Endpoint& endpoint,
                                                          Resumption) = 0;
};

}  // namespace redlock::inline v1::detail
