#include "tool/nodes.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "os/random.hpp"
#include "redlock/error.hpp"
#include "redlock/redlock.hpp"
#include "tool/command_line/credentials.hpp"
#include "tool/output.hpp"
#include "values/environment.hpp"

namespace redlock::tool {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error{Errc::invalid_argument, why}; }

std::vector<Endpoint> nodes_at(const NodeChoice& choice) try {
  std::vector<Endpoint> nodes;
  for (const std::string& url : choice.urls) try {
      nodes.push_back(choice.logins ? node_at(url, *choice.logins) : Endpoint{url});
    } catch (const Error& error) {
      detail::refuse_entry(nodes.size() + 1, error);
    }
  return nodes;
} catch (const Error& error) {
  refuse("--node: " + error.details());
}

std::vector<Endpoint> endpoints_of(const NodeChoice& choice, Nodes& nodes) {
  if ((choice.local > 0) + !choice.urls.empty() + choice.nodes_file.has_value() > 1)
    refuse("use only one of --local, --node and --nodes-file");
  if (choice.local > 0) {
    redlock::testing::LocalNodesOptions options;
    options.password = detail::random_owner_value();  // other users of this machine can reach the ports
    nodes.servers = std::make_unique<redlock::testing::LocalNodes>(choice.local, std::move(options));
    return Endpoint::list(nodes.servers->url_list());
  }
  if (choice.nodes_file) return detail::nodes_in_file(*choice.nodes_file);
  if (!choice.urls.empty()) return nodes_at(choice);
  return detail::nodes_of(detail::process_variable);
}

/// What the command line says comes before the environment.
Options options_of(const NodeChoice& choice) {
  // As in a URL: whoever names the CAs to trust wants no others.
  const bool names_trust = choice.ca_file || choice.ca_path;
  const auto variable = [&choice, names_trust](std::string_view name) -> std::optional<std::string> {
    if (name == "REDLOCK_RESTART_GUARD" && choice.restart_guard) return choice.restart_guard;
    if (name == "REDLOCK_DURABLE_NODES" && choice.durable_nodes) return "1";
    if (name == "REDLOCK_MAX_TTL" && choice.max_ttl) return std::nullopt;
    if (name == "REDLOCK_KEY_PREFIX" && choice.key_prefix) return choice.key_prefix;
    if (name == "REDLOCK_PASSWORD_FILE" && choice.password_file) return choice.password_file;
    if (name == "REDLOCK_TLS_CACERT" && names_trust) return choice.ca_file;
    if (name == "REDLOCK_TLS_CACERTDIR" && names_trust) return choice.ca_path;
    if (name == "REDLOCK_TLS_CERT" && choice.cert_file) return choice.cert_file;
    if (name == "REDLOCK_TLS_KEY" && choice.key_file) return choice.key_file;
    if (name == "REDLOCK_TLS_SERVER_NAME" && choice.server_name) return choice.server_name;
    if (name == "REDLOCK_TLS_MIN_VERSION" && choice.tls_min_version) return choice.tls_min_version;
    if (name == "REDLOCK_TLS_CIPHERS" && choice.ciphers) return choice.ciphers;
    if (name == "REDLOCK_TLS_CIPHERSUITES" && choice.ciphersuites) return choice.ciphersuites;
    if (name == "REDLOCK_TLS_INSECURE_SKIP_VERIFY" && choice.insecure_skip_verify) return "1";
    return detail::process_variable(std::string{name}.c_str());
  };
  Options options = detail::options_of(variable, {});
  options.on_warning = warn;
  if (choice.max_ttl) options.max_ttl = *choice.max_ttl;
  return options;
}

/// Precondition: the node has its TLS options.
bool has_secret(const Endpoint& node) {
  const bool has_key = node.transport() == Endpoint::Transport::tls && node.tls_options() &&
                       !node.tls_options()->key_file.empty();
  return has_key || !node.password().empty();
}

}  // namespace

Endpoint with_login(const Endpoint& node, const CredentialsSource& source) {
  return source ? node.with(source(node)) : node;
}

std::vector<Endpoint> with_login(const Nodes& nodes) {
  std::vector<Endpoint> all;
  for (const Endpoint& node : nodes.endpoints) all.push_back(with_login(node, nodes.options.credentials));
  return all;
}

Nodes choose_nodes(const NodeChoice& choice) {
  Nodes nodes;
  nodes.options = options_of(choice);
  nodes.endpoints = endpoints_of(choice, nodes);
  if (nodes.endpoints.empty())
    refuse(
        "no nodes given: use --node URL for each node, or set REDLOCK_NODES to a comma-separated list, or "
        "write one "
        "node per line to a file for --nodes-file or REDLOCK_NODES_FILE, or to ~/.config/redlock/nodes or "
        "/etc/redlock/nodes; to try it out, --local 5 starts private servers");
  // Not all connections are made by a client with these options.
  for (Endpoint& node : nodes.endpoints) node = node.with(node.tls_options(nodes.options.tls));
  // Keeps passwords and private keys out of core dumps, and from other processes of this user.
  if (nodes.options.credentials || std::ranges::any_of(nodes.endpoints, has_secret))
    ::prctl(PR_SET_DUMPABLE, 0);
  return nodes;
}

}  // namespace redlock::tool
