// TLS byte by byte: a server in the same thread, at the other end of a pair of sockets.
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "io/tls/tls_context.hpp"
#include "redlock/endpoint.hpp"
#include "support/catch.hpp"
#include "support/temp_folder.hpp"
#include "testing/certificates.hpp"

namespace {

using namespace redlock::testing;
using redlock::Endpoint;
using redlock::TlsOptions;
using redlock::detail::Descriptor;
using redlock::detail::TlsContext;
using redlock::detail::Transport;
using redlock::testing::detail::Certificate;
using redlock::testing::detail::CertificateAuthority;

struct Free {
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
};

class OwnServer {
 public:
  OwnServer(const Certificate& certificate, int version) : context_{SSL_CTX_new(TLS_server_method())} {
    REQUIRE(SSL_CTX_use_certificate_file(context_.get(), certificate.cert_file.c_str(), SSL_FILETYPE_PEM) ==
            1);
    REQUIRE(SSL_CTX_use_PrivateKey_file(context_.get(), certificate.key_file.c_str(), SSL_FILETYPE_PEM) == 1);
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
  }
  [[nodiscard]] SSL* accept(int fd) const {
    SSL* const ssl = SSL_new(context_.get());
    SSL_set_fd(ssl, fd);
    SSL_set_accept_state(ssl);
    return ssl;
  }

 private:
  std::unique_ptr<SSL_CTX, Free> context_;
};

const Endpoint here{"rediss://127.0.0.1"};

/// A connection of a client and the server, both in this thread.
struct Conversation {
  Conversation(const OwnServer& to, TlsContext& from, const Endpoint& address = here) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
    client = from.secure(Descriptor{ends[0]}, address);
    socket = Descriptor{ends[1]};
    server.reset(to.accept(ends[1]));
    while (state == Transport::Handshake::pending && round_trips < 9) {
      state = client->shake_hands();
      if (state == Transport::Handshake::pending) ++round_trips;
      ERR_clear_error();
      SSL_do_handshake(server.get());
    }
  }
  /// What the client receives.
  std::string received() {
    std::array<char, Transport::receive_size> bytes{};
    return {bytes.data(), client->receive(bytes.data(), bytes.size()).size};
  }
  /// What the server receives; empty if that is nothing, or the end.
  std::string arrived() {
    std::array<char, 100> bytes{};
    ERR_clear_error();
    const int size = SSL_read(server.get(), bytes.data(), bytes.size());
    return {bytes.data(), static_cast<std::size_t>(std::max(size, 0))};
  }
  void answer(const std::string& text) {
    CHECK(SSL_write(server.get(), text.data(), static_cast<int>(text.size())) > 0);
  }
  /// Both sides say something. In TLS 1.3 a client gets its session only then.
  void talk() {
    CHECK(state == Transport::Handshake::done);
    CHECK(client->send("PING") == 4);
    CHECK(arrived() == "PING");
    answer("+PONG");
    CHECK(received() == "+PONG");
  }
  [[nodiscard]] bool resumed() const { return SSL_session_reused(server.get()) == 1; }

  Descriptor socket;
  std::unique_ptr<SSL, Free> server;
  std::unique_ptr<Transport> client;
  Transport::Handshake state = Transport::Handshake::pending;
  int round_trips = 0;
};

struct Setting {
  TempFolder folder;
  CertificateAuthority authority{folder.path() / "ca"};
  TlsOptions options{.ca_file = authority.own().cert_file};
  Certificate certificate = authority.issue("server");
};

const auto versions = {TLS1_2_VERSION, TLS1_3_VERSION};

}  // namespace

TEST_CASE("a_redial_resumes_the_session_of_a_connection_that_was_cut") {
  const Setting setting;
  for (const int version : versions) {
    const OwnServer server{setting.certificate, version};
    const auto client = TlsContext::make(setting.options);
    Conversation first{server, *client};
    first.talk();
    CHECK_FALSE(first.resumed());
    const auto end = first.client->certificate_end();
    CHECK(end > std::chrono::system_clock::now());
    first.client.reset();  // without the alert that ends TLS

    Conversation second{server, *client};
    second.talk();
    CHECK(second.resumed());
    CHECK(first.round_trips - second.round_trips == (version == TLS1_2_VERSION ? 1 : 0));
    CHECK(second.client->certificate_end() == end);

    Conversation elsewhere{server, *client, Endpoint{"rediss://127.0.0.1:1"}};
    elsewhere.talk();
    CHECK_FALSE(elsewhere.resumed());
  }
}

TEST_CASE("a_session_is_not_resumed_after_its_certificate_has_ended") {
  const Setting setting;
  const Certificate expired = setting.authority.issue("expired", {.until = "20260102030405Z"});
  for (const int version : versions) {
    const OwnServer server{expired, version};
    const auto client = TlsContext::make({.insecure_skip_verify = true});
    Conversation{server, *client}.talk();
    Conversation second{server, *client};
    second.talk();
    CHECK_FALSE(second.resumed());
  }
}

TEST_CASE("files_that_are_replaced_are_taken_at_the_next_dial_without_the_sessions_of_the_old_ones") {
  const Setting setting;
  const CertificateAuthority next{setting.folder.path() / "next"};
  const OwnServer old_server{setting.certificate, TLS1_3_VERSION};
  const OwnServer new_server{next.issue("server"), TLS1_3_VERSION};
  const std::string ca_file = setting.folder.path() / "ca.crt";
  std::filesystem::copy_file(setting.authority.own().cert_file, ca_file);
  const auto client = TlsContext::make({.ca_file = ca_file});
  Conversation{old_server, *client}.talk();

  client->refresh();  // nothing has changed
  Conversation resumed{old_server, *client};
  resumed.talk();
  CHECK(resumed.resumed());

  setting.folder.write("ca.crt", "no certificate");
  client->refresh();
  CHECK_THAT(client->why_old(), contains("ca_file " + ca_file));
  Conversation{old_server, *client}.talk();

  std::filesystem::copy_file(next.own().cert_file, ca_file,
                             std::filesystem::copy_options::overwrite_existing);
  client->refresh();
  CHECK(client->why_old().empty());
  CHECK(Conversation{old_server, *client}.state == Transport::Handshake::failed);
  Conversation{new_server, *client}.talk();
}

TEST_CASE("a_server_cannot_renegotiate") {
  const Setting setting;
  const OwnServer server{setting.certificate, TLS1_2_VERSION};
  const auto client = TlsContext::make(setting.options);
  Conversation conversation{server, *client};
  conversation.talk();
  CHECK(SSL_renegotiate(conversation.server.get()) == 1);
  SSL_do_handshake(conversation.server.get());
  CHECK(conversation.received().empty());
  CHECK(conversation.arrived().empty());
  CHECK(ERR_GET_REASON(ERR_peek_error()) == SSL_R_NO_RENEGOTIATION);
}

TEST_CASE("a_server_that_is_not_verified_is_not_blamed_for_its_certificate_later") {
  const Setting setting;
  for (const int version : versions) {
    const OwnServer server{setting.certificate, version};
    const auto client = TlsContext::make({.insecure_skip_verify = true});
    Conversation conversation{server, *client};
    conversation.talk();
    std::string record(40, 'x');  // of data that the key does not fit
    record.replace(0, 5, {"\x17\x03\x03\x00\x23", 5});
    CHECK(::send(conversation.socket.get(), record.data(), record.size(), MSG_NOSIGNAL) == 40);
    CHECK(conversation.received().empty());
    CHECK_THAT(conversation.client->trouble().message, Catch::Matchers::StartsWith("TLS: "));
  }
}

TEST_CASE("a_connection_ends_if_the_server_asks_for_handshakes_and_reads_no_answer") {
  const Setting setting;
  const OwnServer server{setting.certificate, TLS1_2_VERSION};
  const auto client = TlsContext::make(setting.options);
  Conversation conversation{server, *client};
  conversation.talk();
  SSL_set0_rbio(conversation.server.get(), BIO_new(BIO_s_mem()));  // it stays empty
  std::array<char, Transport::receive_size> bytes{};
  int requests = 0;
  while (requests < 100'000 && !conversation.client->receive(bytes.data(), bytes.size()).ended) {
    ERR_clear_error();
    SSL_renegotiate(conversation.server.get());
    SSL_do_handshake(conversation.server.get());
    ++requests;
  }
  CHECK(requests > 1000);
  CHECK(requests < 100'000);
  CHECK(conversation.client->trouble().status == redlock::NodeStatus::tls_failed);
  CHECK(conversation.client->trouble().message ==
        "TLS: the server asks for handshakes, and does not read the answers");
}

TEST_CASE("keys_are_updated_while_bytes_travel") {
  const Setting setting;
  const OwnServer server{setting.certificate, TLS1_3_VERSION};
  const auto client = TlsContext::make(setting.options);
  Conversation conversation{server, *client};
  for (int count = 0; count < 3; ++count) {
    conversation.talk();
    CHECK(SSL_key_update(conversation.server.get(), SSL_KEY_UPDATE_REQUESTED) == 1);
  }
  conversation.talk();
}

TEST_CASE("the_last_bytes_arrive_before_the_end") {
  const Setting setting;
  for (const int version : versions) {
    const OwnServer server{setting.certificate, version};
    const auto client = TlsContext::make(setting.options);
    Conversation conversation{server, *client};
    conversation.talk();
    CHECK(conversation.client->send("RELEASE") == 7);
    conversation.client->end_output();
    CHECK(conversation.arrived() == "RELEASE");
    CHECK(conversation.arrived().empty());
    CHECK(SSL_get_shutdown(conversation.server.get()) == SSL_RECEIVED_SHUTDOWN);
    conversation.answer(":1");  // the other direction is still open
    CHECK(conversation.received() == ":1");
  }
}
