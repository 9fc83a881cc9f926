// The server's side of TLS, by OpenSSL itself.
#pragma once

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>

#include "support/catch.hpp"
#include "testing/certificates.hpp"

namespace redlock::testing {

struct FreeOpenSsl {
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
};
using ServerSsl = std::unique_ptr<SSL, FreeOpenSsl>;

/// Has one certificate, and speaks one version of TLS.
class OwnServer {
 public:
  OwnServer(const detail::Certificate& certificate, int version)
      : context_{SSL_CTX_new(TLS_server_method())} {
    REQUIRE(SSL_CTX_use_certificate_file(context_.get(), certificate.cert_file.c_str(), SSL_FILETYPE_PEM) ==
            1);
    REQUIRE(SSL_CTX_use_PrivateKey_file(context_.get(), certificate.key_file.c_str(), SSL_FILETYPE_PEM) == 1);
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
  }
  /// Sessions are offered and cannot be resumed, as of Redis with client certificates and `tls-session-caching no`.
  void refuse_sessions() {
    SSL_CTX_set_session_cache_mode(context_.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  }
  /// Begins the handshake with the client at this socket.
  [[nodiscard]] ServerSsl accept(int fd) const {
    ServerSsl ssl{SSL_new(context_.get())};
    SSL_set_fd(ssl.get(), fd);
    SSL_set_accept_state(ssl.get());
    return ssl;
  }

 private:
  std::unique_ptr<SSL_CTX, FreeOpenSsl> context_;
};

}  // namespace redlock::testing
