#include "io/tls/tls_transport.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <exception>
#include <new>
#include <utility>

#include "io/tls/server_name.hpp"
#include "io/tls/tls_trouble.hpp"

namespace redlock::inline v1::detail {
namespace {

constexpr std::size_t largest_payload = SSL3_RT_MAX_PLAIN_LENGTH;
// OpenSSL reads at most one largest record ahead: so `receive` has room for all that it can have.
static_assert(Transport::receive_size > SSL3_RT_MAX_ENCRYPTED_LENGTH + SSL3_RT_HEADER_LENGTH);
/// Of what is encrypted and not sent yet: more than any client's certificates.
constexpr std::size_t most_unsent = 131072;
/// After so much was read in one turn, others get theirs.
constexpr int most_steps = 16;

/// When the certificate ends, if there is one.
std::optional<std::chrono::sys_seconds> end_of(const X509* certificate) {
  std::tm parts{};
  if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) return std::nullopt;
  return std::chrono::sys_seconds{std::chrono::seconds{::timegm(&parts)}};
}

}  // namespace

TlsTransport::TlsTransport(Descriptor socket, std::shared_ptr<TlsMaterial> material,
                           const std::string& address, const std::string& name, bool verifies)
    : PlainTransport{std::move(socket)},
      material_{std::move(material)},
      session_{material_->sessions[address]},
      ssl_{SSL_new(material_->context.get())},
      name_{without_zone(name)} {
  BIO* const socket_of_ssl = BIO_new(material_->socket.get());
  if (ssl_) SSL_set_bio(ssl_.get(), socket_of_ssl, socket_of_ssl);  // takes it
  if (!ssl_ || !socket_of_ssl) throw std::bad_alloc{};
  BIO_set_data(socket_of_ssl, this);
  SSL_set_app_data(ssl_.get(), this);
  SSL_set_info_callback(ssl_.get(), &TlsTransport::note);
  SSL_set_connect_state(ssl_.get());
  SSL_set_verify(ssl_.get(), verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                 verifies ? &TlsTransport::check : nullptr);
  expect(name_);
}

/// Has the certificate checked against the name, and tells a host name to the server. The host of an endpoint may be longer
/// than any that a server can be told.
void TlsTransport::expect(const std::string& name) {
  X509_VERIFY_PARAM* const rules = SSL_get0_param(ssl_.get());
  // The common name of a subject does not count: RFC 9525.
  X509_VERIFY_PARAM_set_hostflags(rules,
                                  X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const bool is_set = is_ip_address(name)
                          ? X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str()) == 1
                          : X509_VERIFY_PARAM_set1_host(rules, name.data(), name.size()) == 1 &&
                                (name.size() > longest_server_name ||
                                 SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) == 1);
  if (!is_set) throw std::bad_alloc{};
}

/// There will be no certificate to check again, so its time is checked here.
void TlsTransport::resume() {
  if (!session_) return;
  const X509* const certificate = SSL_SESSION_get0_peer(session_.get());
  if (certificate && X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0)
    offers_session_ = SSL_set_session(ssl_.get(), session_.get()) == 1;
}

int TlsTransport::keep(SSL* ssl, SSL_SESSION* session) noexcept {
  static_cast<TlsTransport*>(SSL_get_app_data(ssl))->session_.reset(session);
  return 1;  // it is ours
}

/// OpenSSL calls this for each alert, among other things. SSL_get_error would tell the end from an error as well, but only if
/// no other code of the thread has left an error behind; to look for those takes as long as all else here together.
void TlsTransport::note(const SSL* ssl, int event, int alert) noexcept {
  auto& transport = *static_cast<TlsTransport*>(SSL_get_app_data(ssl));
  const int what = alert & 0xff;
  if (event == SSL_CB_READ_ALERT && what == SSL_AD_CLOSE_NOTIFY) transport.has_been_closed_ = true;
  if (event == SSL_CB_WRITE_ALERT && what == SSL_AD_NO_RENEGOTIATION) transport.has_declined_ = true;
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

// ── what OpenSSL calls ──────────────────────────────────────────────────────────────────────────────────────

TlsSocketMethod TlsTransport::socket_method() {
  TlsSocketMethod method{BIO_meth_new(BIO_TYPE_SOURCE_SINK, "socket of redlock")};
  const bool is_complete = method && BIO_meth_set_read(method.get(), &TlsTransport::read) == 1 &&
                           BIO_meth_set_write(method.get(), &TlsTransport::write) == 1 &&
                           BIO_meth_set_ctrl(method.get(), &TlsTransport::control) == 1;
  if (!is_complete) throw std::bad_alloc{};
  return method;
}

/// One read of the socket for each call that allows it: the socket tells the caller whether there is more.
int TlsTransport::read(BIO* bio, char* bytes, int size) noexcept try {
  auto& transport = *static_cast<TlsTransport*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const bool may_read = std::exchange(transport.may_read_, false);
  if (may_read) transport.got_ = transport.PlainTransport::receive(bytes, static_cast<std::size_t>(size));
  if (may_read && transport.got_.size > 0) return static_cast<int>(transport.got_.size);
  BIO_set_retry_read(bio);
  transport.is_starved_ = true;
  return -1;
} catch (const std::bad_alloc&) {
  return -1;
}

/// Takes everything: what the socket does not take waits in `unsent_`.
int TlsTransport::write(BIO* bio, const char* bytes, int size) noexcept try {
  auto& transport = *static_cast<TlsTransport*>(BIO_get_data(bio));
  std::string_view rest{bytes, static_cast<std::size_t>(size)};
  if (transport.unsent_.empty()) rest.remove_prefix(transport.write(rest));
  transport.unsent_.append(rest);
  return size;
} catch (const std::bad_alloc&) {
  return -1;
}

/// OpenSSL asks for nothing but a flush, and nothing is kept back.
long TlsTransport::control(BIO*, int command, long, void*) noexcept {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// ── sending and receiving ───────────────────────────────────────────────────────────────────────────────────

/// Returns how much of it the socket took. What is written to a broken connection is lost.
std::size_t TlsTransport::write(std::string_view encrypted) {
  const std::optional<std::size_t> sent = has_broken_output_ ? std::nullopt : PlainTransport::send(encrypted);
  has_broken_output_ = !sent;
  return sent.value_or(encrypted.size());
}

/// Hands to the socket what it did not take before. Returns false if the connection is broken.
bool TlsTransport::flush() {
  if (!unsent_.empty()) unsent_.erase(0, write(unsent_));
  if (is_ending_ && unsent_.empty()) PlainTransport::end_output();
  return !has_broken_output_;
}

Transport::Handshake TlsTransport::shake_hands() {
  for (int step = 0; step < most_steps; ++step) {
    allow_read();
    const int result = SSL_do_handshake(ssl_.get());
    const bool is_waiting = result != 1 && is_starved_;
    if (result != 1 && !is_waiting) {
      fail(trouble_of_tls(refusal_));
      return give_up();
    }
    if (has_broken_output_ || got_.ended) {
      fail({NodeStatus::unreachable, trouble().message + " during the TLS handshake"});
      return give_up();
    }
    if (result == 1) return Handshake::done;
    if (got_.size == 0) return Handshake::pending;
  }
  return Handshake::pending;
}

/// The reason may be the session: Redis with `tls-session-caching no` and client certificates offers sessions, and then
/// ends a handshake that wants to resume one. A certificate was only checked because there was no resumption.
Transport::Handshake TlsTransport::give_up() noexcept {
  session_.reset();
  return offers_session_ && refusal_.empty() ? Handshake::again : Handshake::failed;
}

std::optional<std::size_t> TlsTransport::send(std::string_view bytes) {
  if (!flush()) return explain_broken_output();
  std::size_t taken = 0;
  while (taken < bytes.size() && !has_unsent()) {
    const std::string_view part = bytes.substr(taken, largest_payload);
    if (SSL_write(ssl_.get(), part.data(), static_cast<int>(part.size())) <= 0) {
      fail(trouble_of_tls(refusal_));
      return std::nullopt;
    }
    if (has_broken_output_) return explain_broken_output();
    taken += part.size();
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

Transport::Received TlsTransport::receive(char* bytes, std::size_t size) {
  allow_read();
  std::size_t decrypted = 0;
  const bool is_open = decrypt(bytes, size, decrypted) && flush() && has_little_unsent();
  return {decrypted, got_.ended || !is_open, got_.more};
}

/// OpenSSL answers each request for another handshake. Returns false if the server asks without end, and reads no answer.
bool TlsTransport::has_little_unsent() {
  if (unsent_.size() <= most_unsent) return true;
  fail({NodeStatus::tls_failed, "TLS: the server asks for handshakes, and does not read the answers"});
  return false;
}

/// Reads once, and decrypts all that OpenSSL has: nothing stays behind that a poll of the socket would not see. Returns
/// false after the end of the stream, or if it is broken.
bool TlsTransport::decrypt(char* bytes, std::size_t size, std::size_t& decrypted) {
  do {
    const int got = SSL_read(ssl_.get(), bytes + decrypted, static_cast<int>(size - decrypted));
    if (got > 0) {
      decrypted += static_cast<std::size_t>(got);
      continue;
    }
    if (is_starved_) return true;
    fail(has_been_closed_ ? core::Trouble{NodeStatus::connection_lost, "the server closed the connection"}
                          : trouble_of_tls(refusal_, has_declined_));
    return false;
  } while (decrypted < size && SSL_has_pending(ssl_.get()) == 1);
  return true;
}

std::optional<std::chrono::sys_seconds> TlsTransport::certificate_end() const {
  return end_of(SSL_get0_peer_certificate(ssl_.get()));
}

std::optional<std::chrono::sys_seconds> TlsTransport::own_certificate_end() const {
  return end_of(SSL_get_certificate(ssl_.get()));
}

void TlsTransport::end_output() noexcept try {
  SSL_shutdown(ssl_.get());
  is_ending_ = true;
  flush();
} catch (const std::bad_alloc&) {  // the server sees the end without an alert
  PlainTransport::end_output();
}

}  // namespace redlock::inline v1::detail
