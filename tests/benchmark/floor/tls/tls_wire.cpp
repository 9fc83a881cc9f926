#include "benchmark/floor/tls/tls_wire.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <stdexcept>

namespace redlock::benchmark {
namespace {

void demand(bool is_good, const std::string& what) {
  if (is_good) return;
  const char* const reason = ERR_reason_error_string(ERR_peek_error());
  throw std::runtime_error{"TLS: " + what + ": " + (reason ? reason : "unknown error")};
}

}  // namespace

void TlsWire::Free::operator()(ssl_st* ssl) const noexcept { SSL_free(ssl); }

TlsWire::TlsWire(int socket, const std::string& ca_file) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free};
  demand(context && SSL_CTX_load_verify_file(context.get(), ca_file.c_str()) == 1, ca_file);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_read_ahead(context.get(), 1);  // one system call for the header of a record and the rest
  ssl_.reset(SSL_new(context.get()));        // keeps the context
  demand(ssl_ && X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), "127.0.0.1") == 1, "no memory");
  demand(SSL_set_fd(ssl_.get(), socket) == 1 && SSL_connect(ssl_.get()) == 1, "handshake");
}

void TlsWire::flush() {
  demand(SSL_write(ssl_.get(), unsent_.data(), static_cast<int>(unsent_.size())) > 0, "write");
  unsent_.clear();
}

void TlsWire::receive(redisReader& reader) {
  do {
    std::array<char, SSL3_RT_MAX_PLAIN_LENGTH> bytes;
    const int size = SSL_read(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    demand(size > 0, "read");
    if (redisReaderFeed(&reader, bytes.data(), static_cast<std::size_t>(size)) != REDIS_OK)
      throw std::runtime_error{reader.errstr};
  } while (SSL_has_pending(ssl_.get()) == 1);  // a poll of the socket would not see it
}

}  // namespace redlock::benchmark
