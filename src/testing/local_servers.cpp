#include "testing/local_servers.hpp"

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "testing/certificates.hpp"
#include "testing/process.hpp"

namespace redlock::testing::detail {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string find_server(const std::string& wanted) {
  std::vector<std::string> names{"redis-server", "valkey-server"};
  const char* variable = std::getenv("REDLOCK_SERVER");
  if (variable != nullptr && *variable != '\0') names = {variable};
  if (!wanted.empty()) names = {wanted};
  std::string tried;
  for (const std::string& name : names) {
    if (const auto program = find_program(name)) return *program;
    tried += (tried.empty() ? "" : ", ") + name;
  }
  throw std::runtime_error{"no Redis server found (tried: " + tried +
                           "): install redis-server or valkey-server, or set REDLOCK_SERVER to its path"};
}

/// Returns the number after "v=" in the output of `redis-server --version`, or 0 if there is none.
int major_version(const std::string& program, const std::string& folder) {
  const std::string output = folder + "/version";
  reap(launch({.arguments = {program, "--version"}, .output = output}));
  const std::string text = read_file(output);
  const std::size_t at = text.find("v=");
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 2);
}

std::vector<std::string> server_arguments(const LocalNodesOptions& options, int version) {
  std::vector<std::string> arguments{"--save", "", "--loglevel", "warning", "--appendonly"};
  const auto add = [&](std::initializer_list<std::string> more) { arguments.insert(arguments.end(), more); };
  add({options.persist ? "yes" : "no"});
  // Disable rewriting, which would only start more processes.
  if (options.persist) add({"--appendfsync", "always", "--auto-aof-rewrite-percentage", "0"});
  // Older servers always have DEBUG, and do not start with an option they do not know.
  if (version >= 7) add({"--enable-debug-command", "yes"});
  return arguments;
}

}  // namespace

LocalServers::LocalServers(int count, LocalNodesOptions options) : options_{std::move(options)} {
  plan_.program = find_server(options_.server);
  plan_.arguments = server_arguments(options_, major_version(plan_.program, group_.folder()));
  if (options_.tls) {
    plan_.speaks_tls = true;
    const std::vector<std::string> more = make_certificates();
    plan_.arguments.insert(plan_.arguments.end(), more.begin(), more.end());
  }
  plan_.arguments.insert(plan_.arguments.end(), options_.arguments.begin(), options_.arguments.end());
  plan_.password = options_.password;
  plan_.group = group_.id();
  for (int i = 0; i < count; ++i) servers_.emplace_back(group_.folder() + "/" + std::to_string(i));
  try {
    start_all();
  } catch (...) {
    kill_all();
    throw;
  }
}

LocalServers::~LocalServers() {
  if (group_.is_ours()) kill_all();
}

LocalServer& LocalServers::at(int node) {
  if (node < 0 || node >= size())
    throw std::out_of_range{"there is no Redis server number " + std::to_string(node)};
  return servers_[static_cast<std::size_t>(node)];
}

/// Makes those of the servers and of a client. Returns the servers' arguments.
std::vector<std::string> LocalServers::make_certificates() {
  const CertificateAuthority authority{group_.folder() + "/certificates"};
  const Certificate server = authority.issue("server");
  const Certificate client = authority.issue("client", {.names = "DNS:client"});
  const std::string ca_file = authority.own().cert_file;
  tls_options_ = {.ca_file = ca_file, .cert_file = client.cert_file, .key_file = client.key_file};
  return {"--tls-cert-file",    server.cert_file, "--tls-key-file",     server.key_file,
          "--tls-ca-cert-file", ca_file,          "--tls-auth-clients", "optional"};
}

void LocalServers::start_all() {
  const auto deadline = std::chrono::steady_clock::now() + options_.start_timeout;
  for (LocalServer& server : servers_) server.start(plan_);
  for (LocalServer& server : servers_) await(server, deadline);
}

void LocalServers::kill_all() noexcept {
  for (LocalServer& server : servers_) server.kill();
}

void LocalServers::restart(LocalServer& server, bool with_data) {
  server.kill();
  if (!with_data) server.forget_data();
  server.start(plan_);
  await(server, std::chrono::steady_clock::now() + options_.start_timeout);
}

void LocalServers::await(LocalServer& server, std::chrono::steady_clock::time_point deadline) {
  while (!server.answers(plan_)) {
    if (!server.running()) report(server, "exited during startup");
    if (std::chrono::steady_clock::now() >= deadline) report(server, "did not answer in time");
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
}

void LocalServers::report(LocalServer& server, const std::string& what) {
  server.kill();
  constexpr std::size_t kTail = 2000;
  std::string log = read_file(server.log_path());
  if (log.size() > kTail) log.erase(0, log.size() - kTail);
  throw std::runtime_error{"the Redis server " + plan_.program + " on port " + std::to_string(server.port()) +
                           " " + what + "; the end of its log:\n" + log};
}

}  // namespace redlock::testing::detail
