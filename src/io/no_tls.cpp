// Instead of src/io/tls/tls_context.cpp and what it needs, in a build without OpenSSL.
#include "io/tls/tls_context.hpp"
#include "redlock/error.hpp"

namespace redlock::inline v1::detail {

std::shared_ptr<TlsContext> TlsContext::make(const TlsOptions&) {
  throw Error{
      Errc::invalid_argument,
      "this build of redlock has no TLS: install OpenSSL 3.0 or newer with its headers (libssl-dev on "
      "Debian and Ubuntu, openssl-devel on Fedora) and build redlock with -DREDLOCK_TLS=ON; or use "
      "redis:// or unix://"};
}

}  // namespace redlock::inline v1::detail
