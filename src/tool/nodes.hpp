// Selects the nodes and the options that belong to them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redlock/endpoint.hpp"
#include "redlock/options.hpp"
#include "redlock/testing/local_nodes.hpp"

namespace redlock::tool {

/// The options on the command line that concern the nodes.
struct NodeChoice {
  std::vector<std::string> urls = {};                      ///< `--node`, repeated
  std::shared_ptr<const std::vector<Secret>> logins = {};  ///< Of these URLs: see `node_at`. May be null.
  int local = 0;                                  ///< `--local`: the number of private servers to start
  std::optional<std::string> nodes_file = {};     ///< `--nodes-file`
  std::optional<std::string> password_file = {};  ///< `--password-file`

  std::optional<std::string> restart_guard = {};         ///< `--restart-guard`
  bool durable_nodes = false;                            ///< `--durable-nodes`
  std::optional<std::chrono::nanoseconds> max_ttl = {};  ///< `--max-ttl`
  std::optional<std::string> key_prefix = {};            ///< `--key-prefix`

  std::optional<std::string> ca_file = {};          ///< `--cacert`
  std::optional<std::string> ca_path = {};          ///< `--cacertdir`
  std::optional<std::string> cert_file = {};        ///< `--cert`
  std::optional<std::string> key_file = {};         ///< `--key`
  std::optional<std::string> server_name = {};      ///< `--server-name`
  std::optional<std::string> tls_min_version = {};  ///< `--tls-min-version`
  std::optional<std::string> ciphers = {};          ///< `--tls-ciphers`
  std::optional<std::string> ciphersuites = {};     ///< `--tls-ciphersuites`
  bool insecure_skip_verify = false;                ///< `--insecure-skip-verify`
};

/// The nodes, the options on which all their users must agree, and the private servers started for them, if any. The
/// servers run as long as this object exists.
struct Nodes {
  std::vector<Endpoint> endpoints;
  Options options;
  std::unique_ptr<redlock::testing::LocalNodes> servers;  ///< Null unless private servers were started.
};

/// The node with the user and password that the source has for it now, for connections that are no client's. The source may
/// be empty. Throws what the source throws.
[[nodiscard]] Endpoint with_login(const Endpoint&, const CredentialsSource&);
/// Likewise, for all nodes.
[[nodiscard]] std::vector<Endpoint> with_login(const Nodes&);

/// Takes the nodes from `--local`, `--node` or `--nodes-file`, and what the command line does not say from the
/// environment: see `Configuration::from_environment`. With `--local` it blocks until the private servers answer. If a
/// node has a password, or there is a file with one, or a private key for a node, this process leaves no core dump from then
/// on. Throws
/// `redlock::Error` (invalid_argument) if there are no nodes, if they are given in more than one way, or if any of it is
/// invalid.
[[nodiscard]] Nodes choose_nodes(const NodeChoice&);

}  // namespace redlock::tool
