// For any bytes from a server, before, in and after the TLS handshake: a client takes for true only what the server has sent, in
// order, uses little memory, and says why a connection failed.
#define OPENSSL_SUPPRESS_DEPRECATED  // RAND_set_rand_method: the same bytes give the same run
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/choices.hpp"
#include "fuzz/finding.hpp"
#include "fuzz/pieces.hpp"
#include "io/tls/tls_material.hpp"
#include "io/tls/tls_transport.hpp"
#include "redlock/core/base/printable.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace redlock::testing;
using redlock::NodeStatus;
using redlock::detail::Descriptor;
using redlock::detail::TlsMaterial;
using redlock::detail::TlsTransport;
using redlock::detail::Transport;

struct Free {
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const noexcept { X509_EXTENSION_free(extension); }
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
};
template <class Object>
using Owned = std::unique_ptr<Object, Free>;

// ── what OpenSSL takes from its surroundings ─────────────────────────────────────────────────────────────

std::minstd_rand random_bytes;

void make_random_bytes_repeatable() {
  static const RAND_METHOD method{
      [](const void*, int) { return 1; },
      [](unsigned char* bytes, int size) {
        std::generate_n(bytes, size, [] { return static_cast<unsigned char>(random_bytes() >> 8U); });
        return 1;
      },
      [] {},
      [](const void*, int, double) { return 1; },
      [](unsigned char* bytes, int size) { return method.bytes(bytes, size); },
      [] { return 1; }};
  must(RAND_set_rand_method(&method) == 1, "the random bytes are ours");
}

std::size_t memory_in_use = 0;  // of OpenSSL, on both sides

/// Each allocation has its size before it.
constexpr std::size_t room_for_size = alignof(std::max_align_t);

void* resize(void* memory, std::size_t size, const char*, int) {
  char* const old = memory ? static_cast<char*>(memory) - room_for_size : nullptr;
  const std::size_t old_size = old ? *reinterpret_cast<std::size_t*>(old) : 0;
  void* const fresh = std::realloc(old, size + room_for_size);
  if (!fresh) return nullptr;
  memory_in_use += size - old_size;
  *static_cast<std::size_t*>(fresh) = size;
  return static_cast<char*>(fresh) + room_for_size;
}
void* allocate(std::size_t size, const char* file, int line) { return resize(nullptr, size, file, line); }
void release(void* memory, const char*, int) {
  if (!memory) return;
  char* const start = static_cast<char*>(memory) - room_for_size;
  memory_in_use -= *reinterpret_cast<std::size_t*>(start);
  std::free(start);
}

// ── what all runs share ──────────────────────────────────────────────────────────────────────────────────

constexpr std::chrono::sys_seconds certificate_end{std::chrono::seconds{4'102'444'799}};

struct Shared {
  Shared() {
    must(CRYPTO_set_mem_functions(&allocate, &resize, &release) == 1, "OpenSSL's memory is counted");
    make_random_bytes_repeatable();
    server.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX_set_session_cache_mode(server.get(), SSL_SESS_CACHE_OFF);  // the tickets have all of a session
    const Owned<EVP_PKEY> key{EVP_EC_gen("P-256")};
    const Owned<X509> certificate = certify(key.get());
    SSL_CTX_use_certificate(server.get(), certificate.get());
    SSL_CTX_use_PrivateKey(server.get(), key.get());
    must(SSL_CTX_check_private_key(server.get()) == 1, "the server has a certificate");
    const TempFolder folder;
    const std::string file = folder.write("ca.crt", "");
    const Owned<BIO> out{BIO_new_file(file.c_str(), "w")};
    PEM_write_bio_X509(out.get(), certificate.get());
    BIO_flush(out.get());
    client = redlock::detail::read_material({.ca_file = file});
  }

  static Owned<X509> certify(EVP_PKEY* key) {
    Owned<X509> certificate{X509_new()};
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    ASN1_TIME_set_string(X509_getm_notBefore(certificate.get()), "20000101000000Z");
    ASN1_TIME_set_string(X509_getm_notAfter(certificate.get()), "20991231235959Z");
    X509_NAME* const name = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("server"), -1,
                               -1, 0);
    X509_set_issuer_name(certificate.get(), name);
    const Owned<X509_EXTENSION> names{
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1")};
    X509_add_ext(certificate.get(), names.get(), -1);
    X509_set_pubkey(certificate.get(), key);
    must(X509_sign(certificate.get(), key, EVP_sha256()) > 0, "there is a certificate");
    return certificate;
  }

  Owned<SSL_CTX> server;
  std::shared_ptr<TlsMaterial> client;
};

// ── one connection ───────────────────────────────────────────────────────────────────────────────────────

/// What each side sends from this place on: the same bytes come again only after a long time. Precondition: `size` is at most
/// 65,536.
std::string_view bytes_from(std::size_t place, std::size_t size) {
  constexpr std::size_t period = 65'521;
  static const std::string bytes = [] {
    std::minstd_rand random;
    std::string all(period, '\0');
    std::generate(all.begin(), all.end(), [&] { return static_cast<char>(random() >> 8U); });
    return all + all + all;
  }();
  return std::string_view{bytes}.substr(place % period, size);
}

/// What travels in one direction.
struct Flow {
  void arrive(std::string_view bytes) {
    must(bytes.size() <= sent - arrived, "only what was sent arrives");
    must(bytes == bytes_from(arrived, bytes.size()), "bytes arrive as they were sent, and in order");
    arrived += bytes.size();
  }
  std::size_t sent = 0;
  std::size_t arrived = 0;
};

struct Settings {
  explicit Settings(std::size_t bits)
      : version{(bits & 1) != 0 ? TLS1_2_VERSION : TLS1_3_VERSION},
        is_raw{(bits & 2) != 0},
        resumes{(bits & 4) != 0},
        has_other_name{(bits & 8) != 0},
        verifies{(bits & 16) == 0},
        has_small_socket{(bits & 32) != 0} {}

  int version;
  bool is_raw;  ///< The server is no TLS server: it sends the bytes of the input.
  bool resumes;
  bool has_other_name;
  bool verifies;
  bool has_small_socket;
};

/// A client, and a server whose bytes are changed on their way.
class Connection {
 public:
  Connection(const Shared& shared, const Settings& settings, Choices choices)
      : settings_{settings}, choices_{choices}, server_{SSL_new(shared.server.get())} {
    std::array<int, 2> ends{};
    must(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0, "sockets");
    const int size = 1;  // the smallest that the system allows
    if (settings.has_small_socket) ::setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    socket_ = Descriptor{ends[1]};
    client_ = std::make_unique<TlsTransport>(Descriptor{ends[0]}, shared.client, "127.0.0.1:6379",
                                             settings.has_other_name ? "localhost" : "127.0.0.1",
                                             settings.verifies);
    client_->resume();
    SSL_set_min_proto_version(server_.get(), settings.version);
    SSL_set_max_proto_version(server_.get(), settings.version);
    SSL_set_bio(server_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(server_.get());
  }

  void run() {
    exchange();
    if (settings_.is_raw) return send_raw();
    for (int round_trips = 0; round_trips < 4; ++round_trips) exchange();
    while (!choices_.empty() && !is_over_) {
      step();
      exchange();
    }
    reads_ = true;
    do exchange();
    while (!is_over_ && !on_their_way_.empty());
    if (is_untouched_ && !refuses()) check_all_arrived();
    client_->end_output();
    take_from_client();
  }

 private:
  using Handshake = Transport::Handshake;

  [[nodiscard]] bool refuses() const noexcept { return settings_.verifies && settings_.has_other_name; }

  // ── the server ───────────────────────────────────────────────────────────────────────────────────────────

  void send_raw() {
    const std::string_view stream = choices_.rest();
    in_pieces(stream, settings_.resumes ? Cut::randomly : Cut::whole, [&](std::string_view piece) {
      on_their_way_ += piece;
      exchange();
    });
    must(handshake_ != Handshake::done, "only a server with the key completes a handshake");
    if (!is_over_) ::shutdown(socket_.get(), SHUT_WR);
    if (!is_over_) exchange();
    must(is_over_, "a handshake ends with the connection");
  }

  void step() {
    ERR_clear_error();
    switch (choices_.below(9)) {
      case 0:
      case 1:
        return write(1 + choices_.next());
      case 2:
        return write(1 + 256 * choices_.next());
      case 3:
        return touch([&] { on_their_way_ += choices_.take(choices_.below(64)); });
      case 4:
        SSL_key_update(server_.get(),
                       choices_.below(2) == 0 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED);
        SSL_new_session_ticket(server_.get());
        return;
      case 5:
        return touch([&] { ask_for_handshakes(choices_.next()); });
      case 6:
        return send(1 + 128 * choices_.next());
      case 7:
        reads_ = !reads_;
        return;
      default:
        return touch([&] {
          if (choices_.below(2) == 0)
            SSL_shutdown(server_.get());
          else
            ::shutdown(socket_.get(), SHUT_WR);
        });
    }
  }
  template <class Action>
  void touch(Action&& action) {
    is_untouched_ = false;
    action();
  }

  void write(std::size_t size) {
    const std::string_view bytes = bytes_from(to_client_.sent, size);
    for (std::size_t at = 0; at < size; at += SSL3_RT_MAX_PLAIN_LENGTH) {
      const std::string_view part = bytes.substr(at, SSL3_RT_MAX_PLAIN_LENGTH);
      if (SSL_write(server_.get(), part.data(), static_cast<int>(part.size())) <= 0) return;
      to_client_.sent += part.size();
    }
  }
  void ask_for_handshakes(std::size_t times) {
    for (std::size_t count = 0; count < times; ++count) {
      if (SSL_version(server_.get()) == TLS1_2_VERSION) SSL_renegotiate(server_.get());
      SSL_do_handshake(server_.get());
    }
  }

  void take_from_client() {
    std::array<char, 4096> bytes{};
    for (ssize_t got = 0; (got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0;)
      BIO_write(SSL_get_rbio(server_.get()), bytes.data(), static_cast<int>(got));
  }
  void read() {
    take_from_client();
    if (settings_.is_raw) return;
    ERR_clear_error();
    std::array<char, 4096> bytes{};
    for (int got = 0; (got = SSL_read(server_.get(), bytes.data(), bytes.size())) > 0;)
      to_server_.arrive({bytes.data(), static_cast<std::size_t>(got)});
  }

  /// Sends what the server has encrypted, changed as the input says.
  void deliver() {
    BIO* const out = SSL_get_wbio(server_.get());
    std::string bytes(BIO_ctrl_pending(out), '\0');
    if (!bytes.empty()) BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
    if (!bytes.empty() && choices_.below(8) == 7) touch([&] { change(bytes); });
    on_their_way_ += bytes;
    const ssize_t sent = ::send(socket_.get(), on_their_way_.data(), on_their_way_.size(), MSG_NOSIGNAL);
    if (sent > 0) on_their_way_.erase(0, static_cast<std::size_t>(sent));
  }
  void change(std::string& bytes) {
    const std::size_t how = choices_.next();
    const std::size_t at = (choices_.next() * 256 + choices_.next()) % bytes.size();
    switch (how % 5) {
      case 0:
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U + choices_.below(255)));
        return;
      case 1:
        bytes.erase(at, 1 + choices_.next());
        return;
      case 2:
        bytes.insert(at, bytes.substr(at, 1 + choices_.next()));
        return;
      case 3:
        bytes.insert(at, choices_.take(choices_.below(64)));
        return;
      default:
        bytes += bytes;
        return;
    }
  }

  // ── the client ───────────────────────────────────────────────────────────────────────────────────────────

  void exchange() {
    deliver();
    if (!is_over_ && handshake_ == Handshake::pending)
      shake_hands();
    else if (!is_over_)
      receive();
    if (!is_over_ && handshake_ == Handshake::done && client_->has_unsent()) send(0);
    if (reads_) read();
    must(memory_in_use < memory_before_ + most_memory, "memory is bounded");
  }
  void shake_hands() {
    handshake_ = client_->shake_hands();
    if (handshake_ == Handshake::failed || handshake_ == Handshake::again)
      return fail(NodeStatus::unreachable);
    if (handshake_ == Handshake::pending) return;
    must(!refuses(), "a certificate for another name is refused");
    must(client_->certificate_end() == certificate_end, "the certificate is the server's");
  }
  void receive() {
    for (bool more = true; more && !is_over_;) {
      const auto room = std::make_unique<std::array<char, Transport::receive_size>>();
      const Transport::Received got = client_->receive(room->data(), room->size());
      must(got.size <= room->size(), "no more is received than there is room for");
      to_client_.arrive({room->data(), got.size});
      if (got.ended) fail(NodeStatus::connection_lost);
      more = got.more;
    }
  }
  void send(std::size_t size) {
    if (handshake_ != Handshake::done) return;
    if (client_->has_unsent()) size = 0;
    const auto taken = client_->send(bytes_from(to_server_.sent, size));
    if (!taken) return fail(NodeStatus::connection_lost);
    must(*taken <= size, "no more is taken than was given");
    to_server_.sent += *taken;
  }
  void fail(NodeStatus otherwise) {
    is_over_ = true;
    const auto& [status, message, votes_in] = client_->trouble();
    must(status == NodeStatus::tls_failed || status == otherwise, "the status says what failed");
    must(!message.empty() && redlock::core::printable(message, std::string::npos).size() < 1000,
         "a failure has a short reason");
    must(settings_.verifies || !message.starts_with("certificate"), "no refusal of what is not verified");
    must(!is_untouched_ || refuses(), "a connection that nobody touches does not fail");
  }
  void check_all_arrived() const {
    must(handshake_ == Handshake::done, "the handshake was completed");
    must(to_client_.arrived == to_client_.sent, "all that the server sent has arrived");
    must(client_->has_unsent() || to_server_.arrived == to_server_.sent, "all that was sent has arrived");
  }

  static constexpr std::size_t most_memory = 1'000'000;

  const Settings settings_;
  Choices choices_;
  const std::size_t memory_before_ = memory_in_use;
  Owned<SSL> server_;
  Descriptor socket_;  // the server's
  std::unique_ptr<TlsTransport> client_;
  std::string on_their_way_;  // to the client
  Flow to_client_;
  Flow to_server_;
  Handshake handshake_ = Handshake::pending;
  bool is_over_ = false;
  bool is_untouched_ = !settings_.is_raw;
  bool reads_ = true;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Shared shared;
  random_bytes.seed(1);
  shared.client->sessions.clear();
  Choices choices{{reinterpret_cast<const char*>(data), size}};
  Settings settings{choices.next()};
  if (settings.resumes && !settings.is_raw) Connection{shared, settings, Choices{{}}}.run();
  Connection{shared, settings, choices}.run();
  return 0;
}
