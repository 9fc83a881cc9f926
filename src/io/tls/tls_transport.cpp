#include "io/tls/tls_transport.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <exception>
#include <new>
#include <utility>

#include "io/tls/tls_trouble.hpp"

namespace redlock::inline v1::detail {
namespace {

constexpr std::size_t largest_payload = SSL3_RT_MAX_PLAIN_LENGTH;
/// Of one record, with its header.
constexpr std::size_t largest_record = SSL3_RT_MAX_ENCRYPTED_LENGTH + SSL3_RT_HEADER_LENGTH;
static_assert(Transport::receive_size > largest_record);
/// Of what is encrypted and not sent yet: more than any client's certificates.
constexpr std::size_t most_unsent = 131072;
/// After so much was read in one turn, others get theirs.
constexpr int most_steps = 16;

bool is_ip_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> ignored{};
  return ::inet_pton(AF_INET, name.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), ignored.data()) == 1;
}

/// Before each call whose failure SSL_get_error is to explain: it looks at all errors of the thread. To look whether there
/// are any takes a tenth of the time of ERR_clear_error.
void forget_errors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

}  // namespace

TlsTransport::TlsTransport(Descriptor socket, std::shared_ptr<TlsMaterial> material,
                           const std::string& address, const std::string& name, bool verifies)
    : PlainTransport{std::move(socket)},
      material_{std::move(material)},
      session_{material_->sessions[address]},
      ssl_{SSL_new(material_->context.get())},
      in_{BIO_new(BIO_s_mem())},
      out_{BIO_new(BIO_s_mem())},
      name_{name.substr(0, name.find('%'))} {  // without the zone of an IPv6 address
  if (ssl_) SSL_set_bio(ssl_.get(), in_, out_);
  if (!ssl_ || !in_ || !out_) throw std::bad_alloc{};
  SSL_set_app_data(ssl_.get(), this);
  SSL_set_connect_state(ssl_.get());
  SSL_set_verify(ssl_.get(), verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                 verifies ? &TlsTransport::check : nullptr);
  expect(name_);
  resume();
}

/// Has the certificate checked against the name, and tells a host name to the server.
void TlsTransport::expect(const std::string& name) {
  X509_VERIFY_PARAM* const rules = SSL_get0_param(ssl_.get());
  // The common name of a subject does not count: RFC 9525.
  X509_VERIFY_PARAM_set_hostflags(rules,
                                  X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const bool is_set = is_ip_address(name)
                          ? X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str()) == 1
                          : X509_VERIFY_PARAM_set1_host(rules, name.data(), name.size()) == 1 &&
                                SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) == 1;
  if (!is_set) throw std::bad_alloc{};
}

/// Offers the last session to the server. It has no certificate to check again, so its time is checked here.
void TlsTransport::resume() {
  if (!session_) return;
  const X509* const certificate = SSL_SESSION_get0_peer(session_.get());
  if (certificate && X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0)
    SSL_set_session(ssl_.get(), session_.get());
}

int TlsTransport::keep(SSL* ssl, SSL_SESSION* session) noexcept {
  static_cast<TlsTransport*>(SSL_get_app_data(ssl))->session_.reset(session);
  return 1;  // it is ours
}

/// OpenSSL calls this for each certificate of the chain, and with what is wrong with it.
int TlsTransport::check(int is_good, X509_STORE_CTX* chain) noexcept try {
  if (is_good == 1) return 1;
  const auto* const ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* const transport = static_cast<TlsTransport*>(SSL_get_app_data(ssl));
  transport->refusal_ = refusal_of(chain, transport->name_);
  return 0;
} catch (const std::exception&) {  // no memory
  return 0;
}

Transport::Handshake TlsTransport::shake_hands() {
  for (int step = 0; step < most_steps; ++step) {
    forget_errors();
    const int result = SSL_do_handshake(ssl_.get());
    const bool is_waiting = result != 1 && SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ;
    core::Trouble trouble = result == 1 || is_waiting ? core::Trouble{} : trouble_of_tls(refusal_);
    const bool is_flushed = flush();  // also of the alert that says what we do not like
    if (result != 1 && !is_waiting) {
      session_.reset();
      fail(std::move(trouble));
      return Handshake::failed;
    }
    if (is_flushed && result == 1) return Handshake::done;
    const Received got = is_flushed ? fill(largest_record) : Received{.ended = true};
    if (got.ended) {
      fail({NodeStatus::unreachable, this->trouble().message + " during the TLS handshake"});
      return Handshake::failed;
    }
    if (got.size == 0) return Handshake::pending;
  }
  return Handshake::pending;
}

std::optional<std::size_t> TlsTransport::send(std::string_view bytes) {
  if (!flush()) return explain_broken_output();
  std::size_t taken = 0;
  while (taken < bytes.size() && !has_unsent()) {
    const std::string_view part = bytes.substr(taken, largest_payload);
    forget_errors();
    if (SSL_write(ssl_.get(), part.data(), static_cast<int>(part.size())) <= 0) {
      fail(trouble_of_tls(refusal_));
      return std::nullopt;
    }
    taken += part.size();
    if (!flush()) return explain_broken_output();
  }
  return taken;
}

/// A server that does not accept the client's certificate says so after the handshake, and closes the connection.
std::optional<std::size_t> TlsTransport::explain_broken_output() {
  core::Trouble broken = trouble();
  std::array<char, receive_size> ignored;
  receive(ignored.data(), ignored.size());
  if (trouble().status != NodeStatus::tls_failed) fail(std::move(broken));
  return std::nullopt;
}

/// Hands to the socket what was encrypted. Returns false if the connection is broken.
bool TlsTransport::flush() {
  std::array<char, largest_record> encrypted;
  while (true) {
    if (unsent_.empty()) {
      const int size = BIO_read(out_, encrypted.data(), static_cast<int>(encrypted.size()));
      if (size <= 0) break;
      unsent_.assign(encrypted.data(), static_cast<std::size_t>(size));
    }
    const std::optional<std::size_t> sent = PlainTransport::send(unsent_);
    if (!sent) return false;
    unsent_.erase(0, *sent);
    if (!unsent_.empty()) return true;
  }
  if (is_ending_) PlainTransport::end_output();
  return true;
}

/// Hands to OpenSSL what the socket has.
Transport::Received TlsTransport::fill(std::size_t most) {
  std::array<char, receive_size> encrypted;
  const Received got = PlainTransport::receive(encrypted.data(), std::min(most, encrypted.size()));
  if (got.size > 0 && BIO_write(in_, encrypted.data(), static_cast<int>(got.size)) <= 0)
    throw std::bad_alloc{};
  return got;
}

Transport::Received TlsTransport::receive(char* bytes, std::size_t size) {
  // OpenSSL may have the beginning of a record. With it, what is read now has no more bytes than there is room for: so
  // nothing stays behind that a poll of the socket would not see.
  const Received got = fill(size - largest_record);
  std::size_t decrypted = 0;
  // What OpenSSL answers by itself is sent only on an open connection: a failure would hide why it is not.
  const bool is_open = decrypt(bytes, size, decrypted) && flush() && has_little_unsent();
  return {decrypted, got.ended || !is_open, got.more};
}

/// OpenSSL answers each request for another handshake. Returns false if the server asks without end, and reads no answer.
bool TlsTransport::has_little_unsent() {
  if (BIO_ctrl_pending(out_) <= most_unsent) return true;
  fail({NodeStatus::tls_failed, "TLS: the server asks for handshakes, and does not read the answers"});
  return false;
}

/// Decrypts all that OpenSSL has. Returns false after the end of the stream, or if it is broken.
bool TlsTransport::decrypt(char* bytes, std::size_t size, std::size_t& decrypted) {
  while (decrypted < size && (SSL_has_pending(ssl_.get()) == 1 || BIO_pending(in_) > 0)) {
    forget_errors();
    const int got = SSL_read(ssl_.get(), bytes + decrypted, static_cast<int>(size - decrypted));
    if (got > 0) {
      decrypted += static_cast<std::size_t>(got);
      continue;
    }
    const int error = SSL_get_error(ssl_.get(), got);
    if (error == SSL_ERROR_WANT_READ) return true;
    if (error == SSL_ERROR_ZERO_RETURN)
      fail({NodeStatus::connection_lost, "the server closed the connection"});
    else
      fail(trouble_of_tls(refusal_));
    return false;
  }
  return true;
}

std::optional<std::chrono::sys_seconds> TlsTransport::certificate_end() const {
  const X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
  std::tm parts{};
  if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) return std::nullopt;
  return std::chrono::sys_seconds{std::chrono::seconds{::timegm(&parts)}};
}

void TlsTransport::end_output() noexcept try {
  forget_errors();
  SSL_shutdown(ssl_.get());
  is_ending_ = true;
  flush();
} catch (const std::bad_alloc&) {  // the server sees the end without an alert
  PlainTransport::end_output();
}

}  // namespace redlock::inline v1::detail
