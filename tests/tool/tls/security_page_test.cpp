// What docs/security.md says about servers that speak TLS: its configurations, and what a client says if it is refused.
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "redlock/endpoint.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/network/raw_client.hpp"
#include "support/temp_folder.hpp"
#include "testing/certificates.hpp"
#include "testing/loopback_port.hpp"
#include "tool/program.hpp"
#include "tool/secrets/page_blocks.hpp"
#include "tool/tls/configured_server.hpp"

using namespace redlock::testing;

namespace {

const std::string page = "docs/security.md";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// A CA for the certificates of servers and clients.
struct Authority {
  TempFolder folder;
  detail::CertificateAuthority ca{folder.path() / "ca"};

  /// A server as the section *Servers* has it. Without `bind`, it would listen for other machines too.
  ConfiguredServer server(const detail::Certificate& certificate, const std::string& more = {}) const {
    return {blocks_of(page).at("Servers").at(0), folder.path().string(), certificate, ca.own(),
            "bind 127.0.0.1\n" + more};
  }
};

/// A server with the configuration of the section *Hardened servers* and the users that it makes, and a client's certificate.
struct Hardened : Authority {
  const std::vector<std::string> blocks = blocks_of(page).at("Hardened servers");
  const Program::Ending made_users = make_users();
  const detail::Certificate own = ca.issue("client");
  const ConfiguredServer server{blocks.at(0), folder.path().string(), ca.issue("server"), ca.own()};

  Program::Ending make_users() const {
    static_cast<void>(folder.write("app.password", "of the locks"));
    static_cast<void>(folder.write("admin.password", "of the administrator"));
    const std::string path =
        "PATH=" + std::filesystem::path{REDLOCK_TOOL}.parent_path().string() + ":$PATH\n";
    return Program{{"sh", "-ec", path + "cd " + folder.path().string() + '\n' + blocks.at(1)}}.wait();
  }
  /// The words of a call of `redlock` for this server.
  std::vector<std::string> reaching(std::vector<std::string> words, bool has_certificate = true) const {
    words.insert(words.begin() + 1,
                 {"--node", server.url("app"), "--password-file", (folder.path() / "app.password").string(),
                  "--key-prefix", "app:", "--cacert", ca.own().cert_file});
    if (has_certificate) words.insert(words.begin() + 1, {"--cert", own.cert_file, "--key", own.key_file});
    return words;
  }
  /// What redis-cli prints for each command, as a user of the server or without one.
  std::vector<std::string> replies(const std::vector<std::string>& commands, const std::string& user = {},
                                   const std::string& password = {}) const {
    std::string input;
    for (const std::string& command : commands) input += command + '\n';
    const std::string text =
        Program{{"sh", "-c",
                 "printf '%s' \"$INPUT\" | redis-cli --tls --cacert " + ca.own().cert_file + " --cert " +
                     own.cert_file + " --key " + own.key_file + " -h 127.0.0.1 -p " +
                     std::to_string(server.port()) + (user.empty() ? "" : " --user " + user)},
                {"INPUT=" + input, "REDISCLI_AUTH=" + password}}
            .wait()
            .output;
    std::vector<std::string> lines = lines_of(text);
    std::erase(lines, "");  // after an error
    return lines;
  }
};

}  // namespace

TEST_CASE("a_server_with_the_tls_configuration_of_the_page_grants_locks") {
  const Authority authority;
  const ConfiguredServer server = authority.server(authority.ca.issue("server"));
  const Program::Ending run = run_tool(
      {"run", "--cacert", authority.ca.own().cert_file, "r", "--", "sh", "-c", "exit 5"}, {server.url()});
  CAPTURE(run.errors);
  CHECK(run.code == 5);
}

TEST_CASE("the_certificates_that_the_page_makes_identify_server_and_client") {
  const Authority authority;
  const TempFolder folder;
  const std::string block = replaced(blocks_of(page).at("Servers").at(1), "10.0.0.1", "127.0.0.1");
  const Program::Ending made = Program{{"sh", "-ec", "cd " + folder.path().string() + '\n' + block}}.wait();
  CAPTURE(made.errors);
  REQUIRE(made.code == 0);
  const auto named = [&folder](const std::string& name) {
    return detail::Certificate{folder.path() / (name + ".crt"), folder.path() / (name + ".key")};
  };
  const detail::Certificate client = named("client");
  const ConfiguredServer server{blocks_of(page).at("Servers").at(0), authority.folder.path().string(),
                                named("server"), named("ca"), "bind 127.0.0.1\ntls-auth-clients yes"};
  const Program::Ending run = run_tool({"run", "--cacert", named("ca").cert_file, "--cert", client.cert_file,
                                        "--key", client.key_file, "r", "--", "sh", "-c", "exit 5"},
                                       {server.url()});
  CAPTURE(run.errors);
  CHECK(run.code == 5);
}

TEST_CASE("the_steps_of_the_page_switch_a_running_node_to_tls") {
  const std::vector<std::string> blocks = blocks_of(page).at("Servers");
  const Authority authority;
  const detail::Certificate own = authority.ca.issue("server");
  const detail::LoopbackPort tls_port;
  const LocalNodes nodes{1};
  RawClient administrator{nodes.port(0)};
  std::string first_step = blocks.at(2);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"/etc/redis/tls/server.crt", own.cert_file},
           {"/etc/redis/tls/server.key", own.key_file},
           {"/etc/redis/tls/ca.crt", authority.ca.own().cert_file},
           {"6380", std::to_string(tls_port.number())}})
    first_step = replaced(first_step, from, to);
  const std::string tls_url = "rediss://127.0.0.1:" + std::to_string(tls_port.number());
  const auto locking = [&](const std::string& url, const std::vector<std::string>& command,
                           const std::string& conflict = "9") {
    std::vector<std::string> words{"run",    "-n", "-E", conflict, "--cacert", authority.ca.own().cert_file,
                                   "--node", url,  "r",  "--"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
  };

  REQUIRE(administrator.command(words_of(first_step)) == "OK");
  CHECK(run_tool(locking(nodes.url(0), tool(locking(tls_url, {"true"})), "8")).code == 9);
  CHECK(run_tool(locking(tls_url, tool(locking(nodes.url(0), {"true"})), "8")).code == 9);

  REQUIRE(administrator.command(words_of(blocks.at(3))) == "OK");
  CHECK(run_tool(locking(nodes.url(0), {"true"})).code == 69);
  CHECK(run_tool(locking(tls_url, {"true"})).code == 0);
  CHECK(administrator.command({"PING"}) == "PONG");  // open connections stay open
}

TEST_CASE("the_list_of_the_page_has_a_node_with_options_of_its_own") {
  const auto nodes = redlock::Endpoint::list(blocks_of(page).at("Clients").at(0));
  REQUIRE(nodes.size() == 3);
  const redlock::TlsOptions client{.ca_file = "/etc/redlock/ca.crt"};
  for (const std::size_t node : {0U, 2U}) CHECK(nodes[node].tls_options(client) == client);
  CHECK(nodes[1].tls_options(client) ==
        redlock::TlsOptions{.ca_file = "/etc/redlock/ca-2.crt", .server_name = "redis-2.internal"});
}

TEST_CASE("refusals_read_as_on_the_page") {
  const Authority authority;
  const std::vector<std::string> lines = lines_of(blocks_of(page).at("Clients").at(1));
  REQUIRE(lines.size() == 4);
  const TempFolder other;
  const std::string unknown = detail::CertificateAuthority{other.path() / "ca"}.own().cert_file;
  const auto& ca = authority.ca;
  struct Case {
    detail::Certificate certificate;
    std::string more;
    std::string trusted;
  };
  const std::vector<Case> cases{
      {ca.issue("a", {.names = "DNS:redis-2.internal"}), "", ca.own().cert_file},
      {ca.issue("b", {.from = "20250102030405Z", .until = "20260102030405Z"}), "", ca.own().cert_file},
      {ca.issue("c"), "", unknown},
      {ca.issue("d"), "tls-auth-clients yes", ca.own().cert_file}};
  for (std::size_t which = 0; which < cases.size(); ++which) {
    const ConfiguredServer server = authority.server(cases[which].certificate, cases[which].more);
    std::string line = replaced(lines[which], "10.0.0.7:6379", "127.0.0.1:" + std::to_string(server.port()));
    line = replaced(replaced(line, "10.0.0.7", "127.0.0.1"), "Example CA", "redlock-test-ca");
    const Program::Ending run =
        run_tool({"run", "-n", "--cacert", cases[which].trusted, "r", "--", "true"}, {server.url()});
    CHECK(run.code == 64);
    CHECK_THAT(run.errors, contains("\n  " + line + '\n'));
  }
}

TEST_CASE("a_hardened_server_grants_locks_and_refuses_all_else") {
  const Hardened f;
  CHECK(f.made_users.code == 0);
  CHECK(f.made_users.errors.empty());
  const Program::Ending run = run_tool(f.reaching({"run", "r", "--", "sh", "-c", "exit 5"}));
  CAPTURE(run.errors);
  REQUIRE(run.code == 5);
  CHECK_THAT(run_tool(f.reaching({"status", "r"}, false)).output, contains("requires a client certificate"));

  for (const std::string& reply : f.replies({"PING", "GET app:r", "FLUSHALL"}))
    CHECK_THAT(reply, contains("NOAUTH"));
  const std::vector<std::string> dangerous = lines_of(R"(DEBUG SLEEP 0
CONFIG GET *
CONFIG SET save ''
MODULE LIST
MODULE LOAD /x.so
FLUSHALL
FLUSHDB
SHUTDOWN
REPLICAOF NO ONE
MONITOR
ACL LIST
KEYS *
SCRIPT FLUSH
SAVE
CLIENT KILL ID 1
GET other:r
SET other:r x
DEL other:r
PUBLISH other x
SWAPDB 0 1
EVAL 'return redis.call("KEYS","*")' 0)");
  const std::vector<std::string> refusals = f.replies(dangerous, "app", "of the locks");
  REQUIRE(refusals.size() == dangerous.size());
  for (std::size_t which = 0; which < dangerous.size(); ++which) {
    CAPTURE(dangerous[which]);
    CHECK_THAT(refusals[which], contains("NOPERM") || contains("command not allowed") ||
                                    contains("can't run this command"));  // in a script, before Redis 7.2
  }

  // What the server itself refuses.
  const std::vector<std::string> administered =
      f.replies({"DEBUG SLEEP 0", "MODULE LOAD /x.so", "CONFIG SET dir /tmp", "CONFIG GET maxmemory-policy"},
                "admin", "of the administrator");
  REQUIRE(administered.size() == 5);
  CHECK_THAT(administered[0], contains("DEBUG command not allowed"));
  CHECK_THAT(administered[1], contains("MODULE command not allowed"));
  CHECK_THAT(administered[2], contains("can't set protected config"));
  CHECK(administered[4] == "noeviction");
}
