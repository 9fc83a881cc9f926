// Bytes that travel encrypted.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/sockets/transport.hpp"
#include "io/tls/tls_material.hpp"

namespace redlock::inline v1::detail {

/// TLS between a socket and the bytes of the protocol. OpenSSL reads and writes the socket through a `PlainTransport`: so
/// nothing blocks, no signal is raised, and a record that the socket does not take as a whole waits here.
class TlsTransport final : public PlainTransport {
 public:
  /// `address`: of the server, for its session. `name`: the host name or IP address that the certificate must be for, if
  /// it `verifies`.
  TlsTransport(Descriptor socket, std::shared_ptr<TlsMaterial> material, const std::string& address,
               const std::string& name, bool verifies);
  /// Offers the last session to the server. Precondition: before the handshake. A handshake that fails then forgets the
  /// session, and returns `again`: some servers offer sessions that they refuse later.
  void resume();
  /// OpenSSL calls this with each session that the server offers for later handshakes.
  static int keep(SSL*, SSL_SESSION*) noexcept;
  /// Through it OpenSSL uses the sockets of these transports. Throws std::bad_alloc.
  [[nodiscard]] static TlsSocketMethod socket_method();

  Handshake shake_hands() override;
  std::optional<std::size_t> send(std::string_view bytes) override;
  Received receive(char* bytes, std::size_t size) override;
  void end_output() noexcept override;
  [[nodiscard]] std::optional<std::chrono::sys_seconds> certificate_end() const override;
  [[nodiscard]] std::optional<std::chrono::sys_seconds> own_certificate_end() const override;

 private:
  struct Free {
    void operator()(SSL* ssl) const noexcept {
      // Otherwise OpenSSL gives up the session of a connection that ended without the alert that ends TLS.
      SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
      SSL_free(ssl);
    }
  };

  void expect(const std::string& name);
  static int check(int is_good, X509_STORE_CTX* chain) noexcept;
  static void note(const SSL*, int event, int alert) noexcept;
  static int read(BIO*, char* bytes, int size) noexcept;
  static int write(BIO*, const char* bytes, int size) noexcept;
  static long control(BIO*, int command, long, void*) noexcept;
  void allow_read() noexcept {
    may_read_ = true;
    is_starved_ = false;
    got_ = {};
  }
  std::size_t write(std::string_view encrypted);
  bool flush();
  Handshake give_up() noexcept;
  bool has_little_unsent();
  bool decrypt(char* bytes, std::size_t size, std::size_t& decrypted);
  std::optional<std::size_t> explain_broken_output();

  std::shared_ptr<TlsMaterial> material_;
  TlsSession& session_;  // in material_
  std::unique_ptr<SSL, Free> ssl_;
  bool may_read_ = false;    // OpenSSL may read the socket, once
  bool is_starved_ = false;  // it has asked for more since: that is why its call ended
  Received got_;             // when it did
  bool offers_session_ = false;
  std::string name_;
  std::string refusal_;           // why the certificate is not accepted
  bool has_been_closed_ = false;  // by the alert that ends TLS
  bool has_declined_ = false;     // another handshake, which the server wants
  bool has_broken_output_ = false;
  bool is_ending_ = false;
};

}  // namespace redlock::inline v1::detail
