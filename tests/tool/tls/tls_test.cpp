// The command with nodes that speak TLS.
#include <csignal>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/temp_folder.hpp"
#include "testing/certificates.hpp"
#include "testing/process.hpp"
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

/// A certificate that ends in ten days.
struct Brief {
  [[nodiscard]] std::string ca_file() const { return authority.own().cert_file; }
  [[nodiscard]] LocalNodesOptions server(const std::string& password) const {
    return {.arguments = {"--tls-cert-file", certificate.cert_file, "--tls-key-file", certificate.key_file},
            .password = password,
            .tls = true};
  }

  std::time_t end = std::time(nullptr) + 10 * 86400 + 3600;
  TempFolder folder;
  detail::CertificateAuthority authority{folder.path() / "ca"};
  detail::Certificate certificate = authority.issue("brief", {.until = detail::certificate_time(end)});
};

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

TEST_CASE("cas_that_the_command_line_names_replace_those_of_the_environment_also_for_the_command") {
  const LocalNodes nodes{1, {.tls = true}};
  const TempFolder folder;
  const std::string trusted = nodes.tls_options().ca_file;
  const std::string trusted_folder = folder.path() / "trusted";
  std::filesystem::create_directory(trusted_folder);
  std::filesystem::copy_file(trusted, trusted_folder + "/ca.pem");
  detail::reap(detail::launch({.arguments = {"/usr/bin/env", "openssl", "rehash", trusted_folder}}));
  const std::string stranger = detail::CertificateAuthority{folder.path() / "stranger"}.own().cert_file;
  const auto status = [&](std::vector<std::string> words, const std::string& variable) {
    words.insert(words.begin(), {"status", "r"});
    return Program{tool(words), {nodes_variable(nodes.urls()), variable}}.wait().output;
  };
  const std::string in_folder = "REDLOCK_TLS_CACERTDIR=" + trusted_folder;
  CHECK_THAT(status({}, in_folder), contains("Nobody holds r."));
  CHECK_THAT(status({"--cacert", stranger}, in_folder), contains("a CA that is not trusted"));
  CHECK_THAT(status({"--cacertdir", trusted_folder}, "REDLOCK_TLS_CACERT=" + stranger),
             contains("Nobody holds r."));

  const auto shown = [&](const std::string& option, const std::string& value, const std::string& variable) {
    const std::string script = "echo \"<${REDLOCK_TLS_CACERT-none} ${REDLOCK_TLS_CACERTDIR-none}>\"";
    return Program{tool({"run", option, value, "-w", "20", "r", "--", "sh", "-c", script}),
                   {nodes_variable(nodes.urls()), variable}}
        .wait()
        .output;
  };
  CHECK_THAT(shown("--cacert", trusted, in_folder), contains("<" + trusted + " none>"));
  CHECK_THAT(shown("--cacertdir", trusted_folder, "REDLOCK_TLS_CACERT=" + stranger),
             contains("<none " + trusted_folder + ">"));
}

// Each of two groups of nodes has a CA of its own. One URL of a list names the CA and the certificate for its node, the
// command line those for the others.
TEST_CASE("the_url_of_a_node_names_its_own_certificates") {
  const LocalNodes ours{2, strict};
  const LocalNodes theirs{1, strict};
  const redlock::TlsOptions tls = theirs.tls_options();
  const std::string own = "?cacert=" + tls.ca_file + "&cert=" + tls.cert_file + "&key=" + tls.key_file;
  std::vector<std::string> urls = ours.urls();
  urls.push_back(theirs.url(0));
  const auto status = [&] { return run_tool(with_tls(ours, {"status", "r"}), urls).output; };
  CHECK_THAT(status(), contains(theirs.url(0)) && contains("tls failed"));
  urls.back() += own;
  const std::string seen = status();
  CHECK_THAT(seen, contains("Nobody holds r."));
  CHECK(seen.find("tls failed") == std::string::npos);
  CHECK(seen.find("cacert") == std::string::npos);  // a node has the name that it had

  const TempFolder folder;
  const std::string file = folder.write("nodes", urls[0] + '\n' + urls[1] + '\n' + urls[2] + '\n');
  for (const std::string& nodes : {"--nodes-file=" + file, "--node=" + urls[2]}) {
    CAPTURE(nodes);
    const Program::Ending ending = run_tool(with_tls(ours, {"nodes", nodes, "--json"}));
    CHECK_THAT(ending.output, contains("\"version\""));
    CHECK(ending.output.find("tls failed") == std::string::npos);
  }
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

TEST_CASE("a_name_in_a_certificate_that_would_control_a_terminal_is_escaped_in_the_output") {
  const TempFolder folder;
  const detail::CertificateAuthority authority{folder.path() / "ca"};
  const detail::Certificate escapes = authority.issue("escapes", {.names = "DNS:a\x1b[2Jb\xc2\x9b"});
  const LocalNodes nodes{
      1,
      {.arguments = {"--tls-cert-file", escapes.cert_file, "--tls-key-file", escapes.key_file}, .tls = true}};
  const std::string shown = R"(certificate is for a\x1b[2Jb\xc2\x9b, not 127.0.0.1)";
  for (std::vector<std::string> words : {std::vector<std::string>{"status", "r"}, {"nodes"}}) {
    CAPTURE(words.front());
    words.insert(words.end(), {"--cacert", authority.own().cert_file});
    CHECK_THAT(run_tool(words, nodes.urls()).output, contains(shown));
    words.emplace_back("--json");
    const std::string json = run_tool(words, nodes.urls()).output;
    CHECK_THAT(json, contains("certificate is for a"));
    CHECK(json.find_first_of("\x1b\xc2\x9b") == std::string::npos);
  }
}

TEST_CASE("a_certificate_that_ends_soon_is_a_finding") {
  const Brief brief;
  const LocalNodes nodes{1, brief.server("swordfish")};
  const Program::Ending looked = run_tool({"nodes", "--json", "--cacert", brief.ca_file()}, nodes.urls());
  CHECK_THAT(looked.output, contains("its certificate ends in less than 11 days"));
  CHECK_THAT(looked.output, contains("\"certificate_end\": " + std::to_string(brief.end)));
  CHECK(looked.output.find("client_certificate") == std::string::npos);

  const std::string stranger = "rediss://:wrong@127.0.0.1:" + std::to_string(nodes.port(0));
  const Program::Ending refused = run_tool({"nodes", "--json", "--cacert", brief.ca_file()}, {stranger});
  CHECK_THAT(refused.output, contains("wrong password"));
  CHECK_THAT(refused.output, contains("its certificate ends in less than 11 days"));
}

TEST_CASE("a_client_certificate_that_ends_soon_is_a_finding") {
  const Brief brief;
  const LocalNodes nodes{1, {.arguments = {"--tls-ca-cert-file", brief.ca_file()}, .tls = true}};
  const Program::Ending seen = run_tool({"nodes", "--json", "--cacert", nodes.tls_options().ca_file, "--cert",
                                         brief.certificate.cert_file, "--key", brief.certificate.key_file},
                                        nodes.urls());
  CHECK_THAT(seen.output, contains("the client's certificate for it ends in less than 11 days"));
  CHECK_THAT(seen.output, contains("\"client_certificate_end\": " + std::to_string(brief.end)));
  CHECK(seen.output.find("its certificate ends") == std::string::npos);
}

TEST_CASE("versions_and_ciphers_are_limited_and_passed_on") {
  // A server of TLS 1.2, whose key is of ECDSA.
  const LocalNodes nodes{1, {.arguments = {"--tls-protocols", "TLSv1.2"}, .tls = true}};
  const std::string ca = nodes.tls_options().ca_file;
  const auto status = [&](std::vector<std::string> options, std::vector<std::string> variables = {}) {
    options.insert(options.begin(), {"status", "--cacert", ca, "r"});
    variables.push_back(nodes_variable(nodes.urls()));
    return Program{tool(options), variables}.wait().output;
  };
  const std::string no_version = "there is no version of TLS that both sides allow";
  const std::string no_cipher = "there is no cipher that both sides allow";
  CHECK_THAT(status({"--tls-min-version", "1.3"}), contains(no_version));
  CHECK_THAT(status({}, {"REDLOCK_TLS_MIN_VERSION=1.3"}), contains(no_version));
  CHECK_THAT(status({"--tls-min-version", "1.2"}, {"REDLOCK_TLS_MIN_VERSION=1.3"}),
             contains("Nobody holds r."));
  CHECK_THAT(status({"--tls-ciphers", "ECDHE+aRSA"}), contains(no_cipher));
  CHECK_THAT(status({}, {"REDLOCK_TLS_CIPHERS=ECDHE+aRSA"}), contains(no_cipher));
  CHECK_THAT(status({"--tls-ciphers", "ECDHE+aECDSA"}, {"REDLOCK_TLS_CIPHERS=ECDHE+aRSA"}),
             contains("Nobody holds r."));

  const Program::Ending inner =
      run_tool({"run", "--cacert", ca, "--tls-min-version", "1.2", "--tls-ciphers", "ECDHE+aECDSA",
                "--tls-ciphersuites", "TLS_AES_128_GCM_SHA256", "r", "--", "sh", "-c",
                "echo $REDLOCK_TLS_MIN_VERSION $REDLOCK_TLS_CIPHERS $REDLOCK_TLS_CIPHERSUITES"},
               nodes.urls());
  CHECK(inner.output == "1.2 ECDHE+aECDSA TLS_AES_128_GCM_SHA256\n");
}

TEST_CASE("the_command_gets_certificates_name_and_missing_verification_of_the_command_line") {
  const LocalNodes nodes{1, strict};
  const redlock::TlsOptions tls = nodes.tls_options();
  const std::string script =
      "echo \"$REDLOCK_TLS_CACERT $REDLOCK_TLS_CERT $REDLOCK_TLS_KEY $REDLOCK_TLS_SERVER_NAME "
      "$REDLOCK_TLS_INSECURE_SKIP_VERIFY\"";
  // The command may change its folder, so it gets absolute paths.
  const std::string key = std::filesystem::relative(tls.key_file);
  const Program::Ending ending =
      run_tool({"run", "--cacert", tls.ca_file, "--cert", tls.cert_file, "--key", key, "--server-name",
                "localhost", "--insecure-skip-verify", "r", "--", "sh", "-c", script},
               nodes.urls());
  CHECK(ending.output ==
        tls.ca_file + ' ' + tls.cert_file + ' ' + std::filesystem::absolute(key).string() + " localhost 1\n");
}

TEST_CASE("ciphers_of_tls_1_3_are_limited") {
  const LocalNodes nodes{
      1,
      {.arguments = {"--tls-protocols", "TLSv1.3", "--tls-ciphersuites", "TLS_AES_256_GCM_SHA384"},
       .tls = true}};
  const auto status = [&](const std::string& ciphersuites) {
    return run_tool(
        {"status", "--cacert", nodes.tls_options().ca_file, "--tls-ciphersuites", ciphersuites, "r"},
        nodes.urls());
  };
  CHECK_THAT(status("TLS_AES_128_GCM_SHA256").output, contains("there is no cipher that both sides allow"));
  CHECK_THAT(status("TLS_AES_256_GCM_SHA384").output, contains("Nobody holds r."));
}

TEST_CASE("tls_options_that_cannot_be_used_are_wrong_usage") {
  const auto refusal = [](const std::vector<std::string>& options, std::vector<std::string> variables = {}) {
    std::vector<std::string> words{"status", "--node", "rediss://127.0.0.1:1", "r"};
    words.insert(words.end(), options.begin(), options.end());
    const Program::Ending ending = Program{tool(words), variables}.wait();
    CHECK(ending.code == 64);
    return ending.errors;
  };
  CHECK_THAT(refusal({"--tls-min-version", "1.1"}), contains("--tls-min-version: 1.1 not in {1.2,1.3}"));
  CHECK_THAT(refusal({}, {"REDLOCK_TLS_MIN_VERSION=1.1"}),
             contains("REDLOCK_TLS_MIN_VERSION is 1.1; allowed: 1.2, 1.3"));
  CHECK_THAT(refusal({"--tls-ciphers", "none-such"}), contains("ciphers none-such: no cipher match"));
  CHECK_THAT(refusal({"--tls-ciphersuites", "none-such"}),
             contains("ciphersuites none-such: no cipher match"));
  const std::string long_name(256, 'x');
  const std::string too_long = "server_name has 256 bytes; allowed: 1 to 255";
  CHECK_THAT(refusal({"--server-name", long_name}), contains(too_long));
  CHECK_THAT(refusal({}, {"REDLOCK_TLS_SERVER_NAME=" + long_name}), contains(too_long));
  CHECK_THAT(refusal({"--server-name", ".internal"}), contains("server_name is .internal; allowed: "));
}

TEST_CASE("an_empty_server_name_means_the_host_of_the_node") {
  const LocalNodes nodes{1, {.tls = true}};
  const std::string ca = nodes.tls_options().ca_file;
  const auto status = [&](std::vector<std::string> options, const std::string& name) {
    options.insert(options.begin(), {"status", "--cacert", ca, "r"});
    return Program{tool(options), {nodes_variable(nodes.urls()), "REDLOCK_TLS_SERVER_NAME=" + name}}
        .wait()
        .output;
  };
  CHECK_THAT(status({}, "other"), contains("certificate is for 127.0.0.1, localhost, not other"));
  CHECK_THAT(status({}, ""), contains("Nobody holds r."));
  CHECK_THAT(status({"--server-name", ""}, "other"), contains("Nobody holds r."));
}

TEST_CASE("a_missing_file_is_wrong_usage") {
  const Program::Ending ending =
      run_tool({"status", "--cacert", "/no/such/file", "r"}, {"rediss://127.0.0.1:1"});
  CHECK(ending.code == 64);
  CHECK_THAT(ending.errors, contains("ca_file /no/such/file: No such file or directory"));
}

TEST_CASE("each_command_warns_once_that_verification_is_skipped") {
  LocalNodes nodes{1, {.tls = true}};
  const std::vector<std::vector<std::string>> calls{{"run", "-w", "20", "r", "--", "true"},
                                                    {"status", "r"},
                                                    {"list"},
                                                    {"nodes"},
                                                    {"leader", "r"},
                                                    {"check", "redlock1;x;1;0123456789abcdef;r"},
                                                    {"revoke", "r"},
                                                    {"release", "--force", "--yes", "r"},
                                                    {"nodes", "init"},
                                                    {"nodes", "set", "--max-ttl", "60s"}};
  const std::string warning = "the certificate is not verified (insecure_skip_verify)";
  for (std::vector<std::string> words : calls) {
    words.insert(words.begin() + 1, "--insecure-skip-verify");
    CAPTURE(words);
    const std::string errors = run_tool(words, nodes.urls()).errors;
    CHECK_THAT(errors, contains(warning));
    CHECK(errors.find(warning) == errors.rfind(warning));
  }
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"watch", "--insecure-skip-verify", "r"},
        {"leader", "--watch", "--insecure-skip-verify", "r"},
        {"elect", "--insecure-skip-verify", "r", "--", "sh", "-c", "echo leads; exec sleep 60"}}) {
    CAPTURE(words);
    Program program{tool(words), {nodes_variable(nodes.urls())}};
    REQUIRE(eventually([&] { return program.output().ends_with('\n'); }));
    program.signal(SIGTERM);
    const std::string errors = program.wait().errors;
    CHECK_THAT(errors, contains(warning));
    CHECK(errors.find(warning) == errors.rfind(warning));
  }
}

TEST_CASE("the_advice_for_a_port_without_tls_is_to_correct_the_address") {
  const LocalNodes plain{1};
  const Program::Ending ending = run_tool({"nodes"}, {"rediss://127.0.0.1:" + std::to_string(plain.port(0))});
  CHECK_THAT(ending.output,
             contains("If the port speaks TLS, its address is rediss://, otherwise redis://."));
}

TEST_CASE("watch_says_why_nodes_do_not_answer") {
  const LocalNodes nodes{1, strict};
  Program watch{tool({"watch", "r"}), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return watch.errors().find("tls failed (") != std::string::npos; }));
  Program leader{tool({"leader", "--watch", "r"}), {nodes_variable(nodes.urls())}};
  REQUIRE(eventually([&] { return leader.errors().find("tls failed (") != std::string::npos; }));
  CHECK_THAT(leader.errors(), contains("redlock: only 0 of 1 nodes voted, so changes are not seen:\n"));
  CHECK(leader.output().empty());
}
