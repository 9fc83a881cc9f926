// Whom a client trusts, and whom a server trusts.
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "integration/support/measure.hpp"
#include "integration/support/refusal.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/granted.hpp"
#include "support/network/raw_client.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_folder.hpp"
#include "testing/certificates.hpp"
#include "testing/process.hpp"

namespace {

using namespace std::chrono_literals;
using namespace redlock::testing;
using redlock::Endpoint;
using redlock::Errc;
using redlock::NodeStatus;
using redlock::Options;
using redlock::Redlock;
using redlock::Release;
using redlock::SingleNodeLock;
using redlock::TlsOptions;
using redlock::TlsVersion;
using redlock::testing::detail::Certificate;
using redlock::testing::detail::CertificateAuthority;
using redlock::testing::detail::CertificateContent;

/// A server with a certificate of the test's choice.
struct Server {
  explicit Server(const Certificate& certificate, std::vector<std::string> more = {})
      : nodes{1, {.arguments = arguments(certificate, std::move(more)), .tls = true}} {}

  static std::vector<std::string> arguments(const Certificate& certificate, std::vector<std::string> more) {
    more.insert(more.end(),
                {"--tls-cert-file", certificate.cert_file, "--tls-key-file", certificate.key_file});
    return more;
  }
  void refuses(const TlsOptions& options, const std::string& words) {
    SingleNodeLock locks{nodes.url(0), {.connect_timeout = 20s, .tls = options}};
    check_refused(locks, Errc::misconfigured, NodeStatus::tls_failed, words);
  }
  LocalNodes nodes;
};

struct Authorities {
  TempFolder folder;
  CertificateAuthority trusted{folder.path() / "trusted"};
  CertificateAuthority other{folder.path() / "other"};
  TlsOptions options{.ca_file = trusted.own().cert_file};
};

void locks_work(redlock::LockClient& locks) {
  CHECK(locks.lock("r", {.node_wait = 20s}).value().release() == Release::released);
}

/// What the observer of a client that gets a lock is told of certificates. `own`: the client's, if it has one.
auto certificates_seen(const Server& server, TlsOptions options, const Certificate& own = {}) {
  options.cert_file = own.cert_file;
  options.key_file = own.key_file;
  const auto observer = std::make_shared<RecordingObserver>();
  {
    SingleNodeLock locks{server.nodes.url(0), {.connect_timeout = 20s, .tls = options, .observer = observer}};
    locks_work(locks);
  }
  return observer->certificates();
}

}  // namespace

TEST_CASE("tls_nodes_grant_locks_to_clients_that_trust_them") {
  LocalNodes nodes{3, {.tls = true}};
  Redlock locks{nodes.urls(), {.connect_timeout = 20s, .tls = nodes.tls_options()}};
  locks_work(locks);
  const auto reports = locks.inspect("r");
  for (const auto& report : reports) CHECK_THAT(report.node, contains("rediss://127.0.0.1:"));
}

TEST_CASE("a_host_name_is_verified_as_well_as_an_address") {
  LocalNodes nodes{1, {.tls = true}};
  SingleNodeLock locks{"rediss://localhost:" + std::to_string(nodes.port(0)),
                       {.connect_timeout = 20s, .tls = nodes.tls_options()}};
  locks_work(locks);
}

TEST_CASE("a_certificate_for_another_host_is_refused_with_both_names") {
  const Authorities all;
  Server server{all.trusted.issue("elsewhere", {.names = "DNS:redis-2.internal,IP:10.0.0.9"})};
  server.refuses(all.options, "certificate is for redis-2.internal, 10.0.0.9, not 127.0.0.1");
  TlsOptions named = all.options;
  named.server_name = "redis-2.internal";
  SingleNodeLock locks{server.nodes.url(0), {.connect_timeout = 20s, .tls = named}};
  locks_work(locks);
  named.server_name = "redis-3.internal";
  server.refuses(named, "certificate is for redis-2.internal, 10.0.0.9, not redis-3.internal");
}

TEST_CASE("a_name_in_a_certificate_that_would_control_a_terminal_is_escaped") {
  const Authorities all;
  Server server{all.trusted.issue("escapes", {.names = "DNS:a\x1b[2Jb\xc2\x9b"})};
  server.refuses(all.options, R"(certificate is for a\x1b[2Jb\xc2\x9b, not 127.0.0.1)");
}

TEST_CASE("a_common_name_is_no_host_name") {
  const Authorities all;
  Server server{all.trusted.issue("localhost", {.names = "email:nobody@localhost"})};
  TlsOptions named = all.options;
  named.server_name = "localhost";
  server.refuses(named, "certificate is for no host, not localhost");
}

TEST_CASE("a_certificate_at_the_wrong_time_is_refused_with_the_time") {
  const Authorities all;
  Server expired{all.trusted.issue("expired", {.until = "20260102030405Z"})};
  expired.refuses(all.options, "certificate expired on 2026-01-02 03:04:05 UTC");
  Server early{all.trusted.issue("early", {.from = "20900102030405Z"})};
  early.refuses(all.options, "certificate is not valid before 2090-01-02 03:04:05 UTC");
}

TEST_CASE("a_self_signed_certificate_is_refused") {
  const Authorities all;
  Server server{all.other.own()};
  server.refuses(all.options, "certificate is self-signed, and not trusted");
}

TEST_CASE("an_unknown_ca_is_refused_with_its_name") {
  const Authorities all;
  Server server{all.other.issue("server")};
  server.refuses(all.options, "certificate is from a CA that is not trusted: CN=redlock-test-ca");
  server.refuses({}, "certificate is from a CA that is not trusted: CN=redlock-test-ca");  // by the system
}

TEST_CASE("verification_is_skipped_only_with_a_warning") {
  const Authorities all;
  Server server{all.other.issue("server")};
  std::vector<std::string> warnings;
  SingleNodeLock locks{server.nodes.url(0),
                       {.connect_timeout = 20s,
                        .tls = {.insecure_skip_verify = true},
                        .on_warning = [&](std::string_view text) { warnings.emplace_back(text); }}};
  locks_work(locks);
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings.front(), contains("certificate is not verified (insecure_skip_verify)"));
}

TEST_CASE("a_server_that_requires_a_client_certificate_gets_it") {
  // In TLS 1.2 a server does not say which of its demands is not met.
  const auto [version, missing] = GENERATE(table<std::string, std::string>(
      {{"TLSv1.2",
        "the server refuses the handshake: there is no cipher that both sides allow, or it requires a client "
        "certificate"},
       {"TLSv1.3", "the server requires a client certificate: set cert_file and key_file"}}));
  CAPTURE(version);
  const Authorities all;
  const std::vector<std::string> strict{"--tls-auth-clients", "yes",
                                        "--tls-ca-cert-file", all.trusted.own().cert_file,
                                        "--tls-protocols",    version};
  Server server{all.trusted.issue("server"), strict};
  server.refuses(all.options, missing);

  const Certificate wrong = all.other.issue("client", {.names = "DNS:client"});
  TlsOptions options = all.options;
  options.cert_file = wrong.cert_file;
  options.key_file = wrong.key_file;
  server.refuses(options, "the server does not trust the CA of the client certificate");

  const Certificate expired =
      all.trusted.issue("expired", {.names = "DNS:client", .until = "20260102030405Z"});
  options.cert_file = expired.cert_file;
  options.key_file = expired.key_file;
  server.refuses(options, "the server refuses the client certificate: it has expired, or is not valid yet");

  const Certificate right = all.trusted.issue("client", {.names = "DNS:client"});
  options.cert_file = right.cert_file;
  options.key_file = right.key_file;
  SingleNodeLock locks{server.nodes.url(0), {.connect_timeout = 20s, .tls = options}};
  locks_work(locks);
}

TEST_CASE("the_end_of_a_certificate_is_an_event") {
  const Authorities all;
  Server server{all.trusted.issue("server", {.until = "20890102030405Z"})};
  const auto seen = certificates_seen(server, all.options);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].node == server.nodes.url(0));
  CHECK(seen[0].end == std::chrono::sys_days{std::chrono::year{2089} / 1 / 2} + 3h + 4min + 5s);
  CHECK_FALSE(seen[0].ends_soon);
}

TEST_CASE("the_end_of_the_client_s_certificate_is_an_event") {
  const Authorities all;
  Server server{all.trusted.issue("server"), {"--tls-ca-cert-file", all.trusted.own().cert_file}};
  const Certificate own = all.trusted.issue("client", {.until = "20890102030405Z"});
  const auto seen = certificates_seen(server, all.options, own);
  REQUIRE(seen.size() == 2);
  CHECK_FALSE(seen[0].is_own);
  CHECK(seen[1].is_own);
  CHECK(seen[1].node == server.nodes.url(0));
  CHECK(seen[1].end == std::chrono::sys_days{std::chrono::year{2089} / 1 / 2} + 3h + 4min + 5s);
}

TEST_CASE("a_certificate_that_ends_within_30_days_ends_soon") {
  const Authorities all;
  const int days = GENERATE(29, 31);
  const std::string until = detail::certificate_time(std::time(nullptr) + days * 86400);
  Server server{all.trusted.issue("server", {.until = until}),
                {"--tls-ca-cert-file", all.trusted.own().cert_file}};
  const Certificate own = all.trusted.issue("client", {.until = until});
  const auto seen = certificates_seen(server, all.options, own);
  REQUIRE(seen.size() == 2);
  for (const auto& certificate : seen) CHECK(certificate.ends_soon == (days < 30));
}

TEST_CASE("a_client_certificate_that_is_replaced_on_disk_is_shown_at_the_next_dial") {
  const Authorities all;
  Server server{all.trusted.issue("server"),
                {"--tls-auth-clients", "yes", "--tls-ca-cert-file", all.trusted.own().cert_file}};
  const Certificate wrong = all.other.issue("client");
  const Certificate right = all.trusted.issue("client");
  TlsOptions options = all.options;
  options.cert_file = wrong.cert_file;
  options.key_file = wrong.key_file;
  SingleNodeLock locks{server.nodes.url(0), {.connect_timeout = 20s, .tls = options}};
  check_refused(locks, Errc::misconfigured, NodeStatus::tls_failed,
                "the server does not trust the CA of the client certificate");
  all.folder.write("other/client.crt", "no certificate");
  CHECK(eventually([&] {
    return locks.try_lock("r").message().find("; not used: cert_file " + wrong.cert_file) !=
           std::string::npos;
  }));
  const auto replace = std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy_file(right.cert_file, wrong.cert_file, replace);
  std::filesystem::copy_file(right.key_file, wrong.key_file, replace);
  CHECK(eventually([&] {
    auto lock = locks.try_lock("r");
    return lock && lock->release() == Release::released;
  }));
}

TEST_CASE("a_node_may_have_tls_options_of_its_own") {
  const Authorities all;
  Server mine{all.trusted.issue("server")};
  Server theirs{all.other.issue("server")};
  LocalNodes plain{1};
  Redlock locks{{mine.nodes.url(0),
                 Endpoint{theirs.nodes.url(0)}.with({.ca_file = all.other.own().cert_file}), plain.url(0)},
                {.connect_timeout = 20s, .tls = all.options}};
  locks_work(locks);
  for (const auto& report : locks.inspect("r")) CHECK(report.status == NodeStatus::free);
}

TEST_CASE("versions_and_ciphers_are_limited") {
  const Authorities all;
  Server old{all.trusted.issue("server"), {"--tls-protocols", "TLSv1.2"}};
  TlsOptions options = all.options;
  options.min_version = TlsVersion::tls_1_3;
  old.refuses(options, "there is no version of TLS that both sides allow");
  options.min_version = TlsVersion::tls_1_2;
  options.ciphers = "ECDHE-RSA-AES128-GCM-SHA256";  // the server's key is not of this kind
  old.refuses(options, "there is no cipher that both sides allow");
  options.ciphers = "ECDHE+AESGCM";
  SingleNodeLock locks{old.nodes.url(0), {.connect_timeout = 20s, .tls = options}};
  locks_work(locks);
}

TEST_CASE("tls_files_that_cannot_be_used_are_refused_when_the_client_is_made") {
  const Authorities all;
  const auto refusal = [](const TlsOptions& options) {
    return std::string{error_of([&] { SingleNodeLock{"rediss://h:1", {.tls = options}}; }).what()};
  };
  const std::string ca = all.trusted.own().cert_file;
  const Certificate client = all.trusted.issue("client");
  const Certificate other = all.other.issue("client");
  CHECK_THAT(refusal({.ca_file = "/no/such/file"}),
             contains("rediss://h:1: ca_file /no/such/file: No such file"));
  CHECK_THAT(refusal({.ca_file = all.folder.write("empty", "")}), contains("empty: "));
  const std::string fifo = all.folder.path() / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const std::string why = " " + fifo + ": it is not a regular file";
  CHECK_THAT(refusal({.ca_file = fifo}), contains("ca_file" + why));
  CHECK_THAT(refusal({.cert_file = fifo, .key_file = client.key_file}), contains("cert_file" + why));
  CHECK_THAT(refusal({.cert_file = client.cert_file, .key_file = fifo}), contains("key_file" + why));
  CHECK_THAT(refusal({.cert_file = client.cert_file}), contains("cert_file and key_file need each other"));
  CHECK_THAT(refusal({.cert_file = client.cert_file, .key_file = other.key_file}),
             contains("key values mismatch"));
  const std::string locked = all.folder.path() / "locked.key";
  const std::string lock_it =
      "openssl pkey -aes256 -passout pass:sesame -in " + client.key_file + " -out " + locked;
  REQUIRE(std::system(lock_it.c_str()) == 0);
  CHECK_THAT(
      refusal({.cert_file = client.cert_file, .key_file = locked}),
      contains("key_file " + locked + ": the key has a passphrase; only a key without one can be used"));
  CHECK_THAT(refusal({.ciphers = "none-such"}), contains("ciphers none-such: no cipher match"));
  CHECK_THAT(refusal({.ciphersuites = "none-such"}), contains("ciphersuites none-such: no cipher match"));
  CHECK_THAT(refusal({.min_version = static_cast<redlock::TlsVersion>(2)}),
             contains("min_version 2: it is not one of its enumerators"));
  const std::string folder = all.folder.path() / "trusted";
  CHECK_THAT(
      refusal({.ca_path = folder}),
      contains("ca_path " + folder + ": no file that can be found there is named as `openssl rehash`"));
  CHECK_THAT(refusal({.ca_path = "/no/such/folder"}), contains("ca_path /no/such/folder: no file"));
  const std::string broken = all.folder.write("cas/0a1b2c3d.0", "no certificate");
  CHECK_THAT(refusal({.ca_path = all.folder.path() / "cas"}), contains("ca_path " + broken + ": "));
}

TEST_CASE("a_path_or_cipher_that_would_control_a_terminal_is_escaped_in_the_refusal") {
  const auto refusal = [](const TlsOptions& options) {
    return std::string{error_of([&] { SingleNodeLock{"rediss://h:1", {.tls = options}}; }).what()};
  };
  CHECK_THAT(refusal({.ca_file = "x\x1b[31mred"}), contains(R"(ca_file x\x1b[31mred: )"));
  CHECK_THAT(refusal({.ca_path = "a\nb"}), contains(R"(ca_path a\x0ab: no file)"));
  CHECK_THAT(refusal({.cert_file = std::string{"a\0b", 3}, .key_file = "k"}),
             contains(R"(cert_file a\x00b: )"));
  CHECK_THAT(refusal({.ciphers = "x\x1b[31mred"}), contains(R"(ciphers x\x1b[31mred: )"));
}

TEST_CASE("a_server_name_that_no_certificate_has_is_refused_when_the_client_is_made") {
  const auto refusal = [](const std::string& name) {
    const TlsOptions options{.server_name = name};
    return std::string{error_of([&] { SingleNodeLock{"rediss://h:1", {.tls = options}}; }).what()};
  };
  CHECK_THAT(refusal(std::string(256, 'x')),
             contains("rediss://h:1: server_name has 256 bytes; allowed: 1 to 255"));
  CHECK_THAT(refusal(std::string{"redis\0.evil", 11}),
             contains("server_name is redis\\x00.evil; allowed: an IP address, or a host name of letters"));
  for (const std::string name : {".internal", "a b", "*.internal",
                                 "r\xc3\xa9"
                                 "dis",
                                 "[::1]", "h:1", "fe80::x"})
    CHECK_THAT(refusal(name), contains("server_name is "));
  CHECK_THAT(refusal(std::string{"127.0.0.1\0x", 11}), contains("server_name is 127.0.0.1"));
  CHECK_THAT(refusal(std::string{"::1\0x", 5}), contains("server_name is ::1"));
  for (const std::string name : {"", "redis_2.internal", "10.0.0.9", "::1", "fe80::1%eth0"})
    CHECK_NOTHROW(SingleNodeLock{"rediss://h:1", {.tls = {.server_name = name}}});
  CHECK_NOTHROW(SingleNodeLock{"rediss://h:1", {.tls = {.server_name = std::string(255, 'x')}}});
}

TEST_CASE("a_folder_as_openssl_rehash_makes_it_is_trusted") {
  const Authorities all;
  const std::string folder = all.folder.path() / "cas";
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(all.trusted.own().cert_file, folder + "/ours.pem");
  redlock::testing::detail::reap(
      redlock::testing::detail::launch({.arguments = {"/usr/bin/env", "openssl", "rehash", folder}}));
  Server server{all.trusted.issue("server")};
  SingleNodeLock locks{server.nodes.url(0), {.connect_timeout = 20s, .tls = {.ca_path = folder}}};
  locks_work(locks);
  std::filesystem::copy_file(all.other.own().cert_file, folder + "/theirs.pem");  // without `openssl rehash`
  Server theirs{all.other.issue("server")};
  theirs.refuses({.ca_path = folder}, "certificate is from a CA that is not trusted");
}
