// The command with nodes that speak TLS.
#include <array>
#include <ctime>
#include <string>
#include <vector>

#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/temp_folder.hpp"
#include "testing/certificates.hpp"
#include "tool/program.hpp"

using namespace redlock::testing;

namespace {

/// What the command line says about a client with a certificate.
std::vector<std::string> with_tls(const LocalNodes& nodes, std::vector<std::string> words) {
  const redlock::TlsOptions options = nodes.tls_options();
  words.insert(words.begin() + 1,
               {"--cacert", options.ca_file, "--cert", options.cert_file, "--key", options.key_file});
  return words;
}

/// Servers that require a client certificate.
const LocalNodesOptions strict{.arguments = {"--tls-auth-clients", "yes"}, .tls = true};

}  // namespace

TEST_CASE("run_holds_a_lock_on_tls_nodes_and_passes_their_options_on") {
  const LocalNodes nodes{3, strict};
  const Program::Ending ending =
      run_tool(with_tls(nodes, {"run", "-w", "20", "r", "--", "sh", "-c", REDLOCK_TOOL " status r; exit 5"}),
               nodes.urls());
  CHECK(ending.code == 5);
  CHECK_THAT(ending.output, contains("r is held by "));
}

TEST_CASE("the_environment_says_how_to_reach_tls_nodes") {
  const LocalNodes nodes{1, strict};
  const redlock::TlsOptions options = nodes.tls_options();
  Program status{tool({"status", "r"}),
                 {nodes_variable(nodes.urls()), "REDLOCK_TLS_CACERT=" + options.ca_file,
                  "REDLOCK_TLS_CERT=" + options.cert_file, "REDLOCK_TLS_KEY=" + options.key_file}};
  CHECK_THAT(status.wait().output, contains("Nobody holds r."));
}

TEST_CASE("list_and_nodes_speak_tls_over_connections_of_their_own") {
  const LocalNodes nodes{3, strict};
  CHECK(run_tool(with_tls(nodes, {"run", "-w", "20", "r", "--", "true"}), nodes.urls()).code == 0);
  CHECK(run_tool(with_tls(nodes, {"list"}), nodes.urls()).code == 0);
  const Program::Ending looked = run_tool(with_tls(nodes, {"nodes", "--json"}), nodes.urls());
  CAPTURE(looked.output, looked.errors);
  CHECK_THAT(looked.output, contains("\"version\""));
  CHECK(looked.output.find("tls failed") == std::string::npos);
}

TEST_CASE("an_unknown_ca_is_reported_for_each_node") {
  LocalNodes nodes{1, {.tls = true}};
  const Program::Ending status = run_tool({"status", "r"}, nodes.urls());
  CHECK(status.code == 64);
  CHECK_THAT(status.output, contains("certificate is from a CA that is not trusted: CN=redlock-test-ca"));
  const Program::Ending looked = run_tool({"nodes"}, nodes.urls());
  CHECK(looked.code == 2);
  CHECK_THAT(looked.output, contains("Fix the server's certificate, or the options --cacert"));
}

TEST_CASE("a_certificate_that_ends_soon_is_a_finding") {
  const TempFolder folder;
  const detail::CertificateAuthority authority{folder.path() / "ca"};
  const std::time_t end = std::time(nullptr) + 10 * 86400 + 3600;
  std::array<char, 32> until{};
  std::strftime(until.data(), until.size(), "%Y%m%d%H%M%SZ", std::gmtime(&end));
  const detail::Certificate brief = authority.issue("brief", {.until = until.data()});
  const LocalNodes nodes{
      1, {.arguments = {"--tls-cert-file", brief.cert_file, "--tls-key-file", brief.key_file}, .tls = true}};
  const Program::Ending looked =
      run_tool({"nodes", "--json", "--cacert", authority.own().cert_file}, nodes.urls());
  CHECK_THAT(looked.output, contains("its certificate ends in less than 11 days"));
  CHECK_THAT(looked.output, contains("\"certificate_end\": " + std::to_string(end)));
}

TEST_CASE("a_missing_file_is_wrong_usage") {
  const Program::Ending ending =
      run_tool({"status", "--cacert", "/no/such/file", "r"}, {"rediss://127.0.0.1:1"});
  CHECK(ending.code == 64);
  CHECK_THAT(ending.errors, contains("ca_file /no/such/file: No such file or directory"));
}

TEST_CASE("skipped_verification_is_warned_of") {
  LocalNodes nodes{1, {.tls = true}};
  const Program::Ending ending =
      run_tool({"run", "--insecure-skip-verify", "-w", "20", "r", "--", "true"}, nodes.urls());
  CHECK(ending.code == 0);
  CHECK_THAT(ending.errors, contains("the certificate is not verified (insecure_skip_verify)"));
}
