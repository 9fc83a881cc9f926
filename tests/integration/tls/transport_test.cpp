// TLS byte by byte: a server in the same thread, at the other end of a pair of sockets.
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "integration/tls/own_server.hpp"
#include "io/sockets/closing_sockets.hpp"
#include "io/tls/tls_context.hpp"
#include "redlock/clock.hpp"
#include "redlock/endpoint.hpp"
#include "support/catch.hpp"
#include "support/temp_folder.hpp"
#include "testing/certificates.hpp"

namespace {

using namespace redlock::testing;
using redlock::Endpoint;
using redlock::NodeStatus;
using redlock::TlsOptions;
using redlock::detail::Descriptor;
using redlock::detail::TlsContext;
using redlock::detail::Transport;
using Resumption = TlsContext::Resumption;
using redlock::testing::detail::Certificate;
using redlock::testing::detail::CertificateAuthority;

const Endpoint here{"rediss://127.0.0.1"};

/// A connection of a client and the server, both in this thread.
struct Conversation {
  Conversation(const OwnServer& to, TlsContext& from, const Endpoint& address = here,
               Resumption resumption = Resumption::offered) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
    client = from.secure(Descriptor{ends[0]}, address, resumption);
    socket = Descriptor{ends[1]};
    server = to.accept(ends[1]);
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
    std::array<char, 20000> bytes{};
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
  /// What the server was told of its name; empty if nothing.
  [[nodiscard]] std::string name() const {
    const char* const name = SSL_get_servername(server.get(), TLSEXT_NAMETYPE_host_name);
    return name ? name : "";
  }
  [[nodiscard]] std::string cipher() const { return SSL_get_cipher_name(server.get()); }

  Descriptor socket;
  ServerSsl server;
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

/// The name that `openssl rehash` gives a certificate.
std::string hashed_name(const std::string& file) {
  std::unique_ptr<BIO, FreeOpenSsl> in{BIO_new_file(file.c_str(), "r")};
  const std::unique_ptr<X509, FreeOpenSsl> certificate{
      PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr)};
  std::array<char, 16> name{};
  std::snprintf(name.data(), name.size(), "%08lx.0", X509_subject_name_hash(certificate.get()));
  return name.data();
}

/// Makes a folder with the certificate of this authority, and with files that are none.
std::string folder_with(const CertificateAuthority& authority, const TempFolder& folder) {
  const std::string file = authority.own().cert_file;
  folder.write("cas/README", "no certificate");
  folder.write("cas/0a1b2c3d.r0", "no revocation list");
  std::filesystem::copy_file(file, folder.path() / "cas" / hashed_name(file));
  return folder.path() / "cas";
}

/// An environment variable of this process.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_{name} { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

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

TEST_CASE("a_handshake_that_fails_with_a_session_may_be_tried_again_without_it") {
  const Setting setting;
  for (const int version : versions) {
    OwnServer server{setting.certificate, version};
    server.refuse_sessions();
    const auto client = TlsContext::make(setting.options);
    Conversation{server, *client}.talk();
    CHECK(Conversation{server, *client}.state == Transport::Handshake::again);
    Conversation without{server, *client};  // it is forgotten
    without.talk();
    CHECK_FALSE(without.resumed());
    Conversation unwanted{server, *client, here, Resumption::none};
    unwanted.talk();
    CHECK_FALSE(unwanted.resumed());
  }
}

TEST_CASE("a_handshake_is_not_tried_again_because_of_a_certificate") {
  const Setting setting;
  const CertificateAuthority other{setting.folder.path() / "other"};
  for (const int version : versions) {
    const auto client = TlsContext::make(setting.options);
    Conversation{OwnServer{setting.certificate, version}, *client}.talk();
    const OwnServer next{other.issue("server"), version};  // it cannot read the session of the first one
    Conversation refused{next, *client};
    CHECK(refused.state == Transport::Handshake::failed);
    CHECK_THAT(refused.client->trouble().message, contains("certificate is "));
  }
}

TEST_CASE("a_server_is_told_the_host_name_that_is_expected_and_no_address") {
  const Setting setting;
  const OwnServer server{setting.certificate, TLS1_3_VERSION};
  const auto client = TlsContext::make(setting.options);
  CHECK(Conversation{server, *client, Endpoint{"rediss://localhost"}}.name() == "localhost");
  CHECK(Conversation{server, *client}.name().empty());
  TlsOptions named = setting.options;
  named.server_name = "localhost";
  Conversation conversation{server, *TlsContext::make(named)};
  CHECK(conversation.name() == "localhost");
  conversation.talk();
}

TEST_CASE("an_ipv6_address_is_verified") {
  const Setting setting;
  const Endpoint local{"rediss://[::1]"};
  for (const int version : versions) {
    const auto client = TlsContext::make(setting.options);
    const OwnServer right{setting.authority.issue("right", {.names = "IP:::1"}), version};
    Conversation{right, *client, local}.talk();
    const OwnServer wrong{setting.authority.issue("wrong", {.names = "IP:::2"}), version};
    const Conversation refused{wrong, *client, Endpoint{"rediss://[::1]:2"}};
    CHECK(refused.state == Transport::Handshake::failed);
    CHECK(refused.client->trouble().message == "certificate is for ::2, not ::1");
  }
}

TEST_CASE("a_host_that_is_too_long_to_be_told_is_not_told") {
  const Setting setting;
  const OwnServer server{setting.certificate, TLS1_3_VERSION};
  const auto client = TlsContext::make(setting.options);
  const Conversation conversation{server, *client, Endpoint{"rediss://" + std::string(300, 'x')}};
  CHECK(conversation.name().empty());
  CHECK_THAT(conversation.client->trouble().message,
             contains("certificate is for 127.0.0.1, localhost, not xxx"));
}

TEST_CASE("the_first_cipher_that_is_allowed_is_used") {
  const Setting setting;
  TlsOptions options = setting.options;
  for (const std::string cipher : {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"}) {
    options.ciphers = cipher;
    Conversation conversation{OwnServer{setting.certificate, TLS1_2_VERSION}, *TlsContext::make(options)};
    CHECK(conversation.cipher() == cipher);
  }
  for (const std::string cipher : {"TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"}) {
    options.ciphersuites = cipher;
    Conversation conversation{OwnServer{setting.certificate, TLS1_3_VERSION}, *TlsContext::make(options)};
    CHECK(conversation.cipher() == cipher);
  }
}

TEST_CASE("a_folder_of_cas_is_read_before_handshakes") {
  const Setting setting;
  const OwnServer server{setting.certificate, TLS1_3_VERSION};
  const std::string folder = folder_with(setting.authority, setting.folder);
  const auto client = TlsContext::make({.ca_path = folder});
  const Variable variable{"SSL_CERT_DIR", "/none:" + folder};
  const auto of_system = TlsContext::make({});
  std::filesystem::remove_all(folder);
  Conversation{server, *client}.talk();
  Conversation{server, *of_system}.talk();
}

TEST_CASE("the_system_trusts_a_file_that_the_environment_names") {
  const Setting setting;
  const OwnServer server{setting.certificate, TLS1_3_VERSION};
  const std::string file = setting.folder.path() / "ca.crt";
  const Variable variable{"SSL_CERT_FILE", file};
  const auto client = TlsContext::make({});
  CHECK(Conversation{server, *client}.state == Transport::Handshake::failed);  // there is no such file yet
  std::filesystem::copy_file(setting.authority.own().cert_file, file);
  client->refresh();
  Conversation{server, *client}.talk();
}

TEST_CASE("a_ca_that_is_overwritten_in_its_folder_is_taken_at_the_next_dial") {
  const Setting setting;
  const CertificateAuthority next{setting.folder.path() / "next"};
  const OwnServer old_server{setting.certificate, TLS1_3_VERSION};
  const OwnServer new_server{next.issue("server"), TLS1_3_VERSION};
  const std::string folder = folder_with(setting.authority, setting.folder);
  const std::string file =
      folder + "/" + hashed_name(next.own().cert_file);  // authorities here have the same name
  const auto client = TlsContext::make({.ca_path = folder});
  Conversation{old_server, *client}.talk();

  const auto replace = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(next.own().cert_file, file, replace);
  client->refresh();
  CHECK(Conversation{old_server, *client}.state == Transport::Handshake::failed);
  Conversation{new_server, *client}.talk();

  std::filesystem::copy_file(setting.authority.own().cert_file, folder + "/0a1b2c3d.0");
  client->refresh();
  Conversation{old_server, *client}.talk();
  Conversation{new_server, *client}.talk();
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
  CHECK(conversation.client->trouble().status == NodeStatus::tls_failed);
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

TEST_CASE("errors_that_other_code_of_the_thread_has_left_are_not_blamed_on_the_connection") {
  const auto leave_an_error = [] { ERR_raise(ERR_LIB_SSL, SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED); };
  const Setting setting;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    CAPTURE(version);
    leave_an_error();
    const auto context = TlsContext::make(setting.options);
    leave_an_error();
    Conversation conversation{{setting.certificate, version}, *context};
    conversation.talk();
    leave_an_error();
    CHECK(conversation.client->send("PING") == 4);
    std::array<char, Transport::receive_size> bytes{};
    Transport::Received got = conversation.client->receive(bytes.data(), bytes.size());
    CHECK((got.size == 0 && !got.ended));
    SSL_shutdown(conversation.server.get());
    leave_an_error();
    got = conversation.client->receive(bytes.data(), bytes.size());
    CHECK(got.ended);
    CHECK(conversation.client->trouble().status == NodeStatus::connection_lost);
    CHECK(conversation.client->trouble().message == "the server closed the connection");
    ERR_clear_error();

    Conversation broken{{setting.certificate, version}, *context};
    broken.talk();
    REQUIRE(::write(broken.socket.get(), "garbage!", 8) == 8);
    leave_an_error();
    CHECK(broken.client->receive(bytes.data(), bytes.size()).ended);
    CHECK(broken.client->trouble().status == NodeStatus::tls_failed);
    CHECK(broken.client->trouble().message.find("client certificate") == std::string::npos);
    CHECK(ERR_peek_error() == 0);
  }
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

TEST_CASE("a_record_of_which_a_part_was_sent_arrives_before_the_end") {
  const Setting setting;
  for (const int version : versions) {
    const OwnServer server{setting.certificate, version};
    const auto client = TlsContext::make(setting.options);
    Conversation conversation{server, *client};
    conversation.talk();
    std::size_t sent = 0;
    while (!conversation.client->has_unsent())
      sent += conversation.client->send(std::string(16000, 'x')).value();
    redlock::detail::ClosingSockets closing;
    const auto until = redlock::Clock::now() + std::chrono::hours{1};
    closing.add(std::move(conversation.client), redlock::detail::WipedString{"RELEASE"}, until);
    std::string all;
    const auto has_end = [&] { return SSL_get_shutdown(conversation.server.get()) == SSL_RECEIVED_SHUTDOWN; };
    while (!has_end() && all.size() <= sent + 7) {
      const std::string part = conversation.arrived();
      if (part.empty()) closing.proceed(redlock::Clock::now());
      all += part;
      if (part.empty() && closing.empty()) break;
    }
    CHECK(has_end());
    CHECK(all == std::string(sent, 'x') + "RELEASE");
    CHECK_FALSE(closing.empty());  // it reads to the end of the stream
  }
}
