#include "tool/command_line/options.hpp"

namespace redlock::tool {

namespace {

void add_tls(CLI::App& command, NodeChoice& nodes) {
  const auto add = [&command](const char* name, std::optional<std::string>& value, const char* type,
                              const char* text) {
    return command.add_option(name, value, text)->type_name(type);
  };
  add("--cacert", nodes.ca_file, "FILE",
      "the CAs that are trusted with nodes rediss://… (default: REDLOCK_TLS_CACERT, else those of\nthe "
      "system)");
  add("--cacertdir", nodes.ca_path, "DIR",
      "a folder with such CAs, as openssl rehash names them (default: REDLOCK_TLS_CACERTDIR)");
  add("--cert", nodes.cert_file, "FILE",
      "the client's certificate, for nodes that ask for one (default: REDLOCK_TLS_CERT)");
  add("--key", nodes.key_file, "FILE", "the private key of --cert (default: REDLOCK_TLS_KEY)");
  add("--server-name", nodes.server_name, "NAME",
      "the name that the nodes' certificates are for (default: REDLOCK_TLS_SERVER_NAME, else the\nhost of "
      "each node)");
  add("--tls-min-version", nodes.tls_min_version, "VERSION",
      "the oldest version of TLS that is accepted: 1.2 or 1.3 (default: REDLOCK_TLS_MIN_VERSION, else\n1.2)")
      ->check(CLI::IsMember({"1.2", "1.3"}));
  add("--tls-ciphers", nodes.ciphers, "LIST",
      "the ciphers that are allowed with TLS 1.2, as OpenSSL names them (default:\nREDLOCK_TLS_CIPHERS, else "
      "those of the system)");
  add("--tls-ciphersuites", nodes.ciphersuites, "LIST",
      "the ciphers that are allowed with TLS 1.3 (default: REDLOCK_TLS_CIPHERSUITES, else those of\nthe "
      "system)");
  command.add_flag("--insecure-skip-verify", nodes.insecure_skip_verify,
                   "accept any certificate, so whoever is on the way can read and change everything (also\n"
                   "set by REDLOCK_TLS_INSECURE_SKIP_VERIFY=1)");
}

}  // namespace

void add_nodes(CLI::App& command, NodeChoice& nodes) {
  command
      .add_option("--node", nodes.urls,
                  "a node, such as redis://user:password@10.0.0.1:6379/0 or unix:///run/redis.sock; repeat\n"
                  "for each node (default: the comma-separated list in REDLOCK_NODES)")
      ->type_name("URL")
      ->allow_extra_args(false);
  command
      .add_option("--nodes-file", nodes.nodes_file,
                  "a file with one node per line, for passwords that must not be seen (default:\n"
                  "REDLOCK_NODES_FILE, else ~/.config/redlock/nodes, else /etc/redlock/nodes)")
      ->type_name("FILE");
  command
      .add_option(
          "--password-file", nodes.password_file,
          "a file with the password of all nodes that have none of their own; it may be replaced while\n"
          "redlock runs. In FILE, {host} and {port} stand for those of a node. The user is the node's:\n"
          "redis://user:@10.0.0.1 (default: REDLOCK_PASSWORD_FILE)")
      ->type_name("FILE");
  command
      .add_option("--local", nodes.local,
                  "start N private servers for the duration of this command, to try it out")
      ->type_name("N")
      ->check(CLI::Range(1, 31));
  command
      .add_option(
          "--restart-guard", nodes.restart_guard,
          "how to treat nodes that lost their data: automatic: they do not vote until --max-ttl has\n"
          "passed; strict: new nodes wait as well; off: no protection (default:\n"
          "REDLOCK_RESTART_GUARD, else automatic). All users of the nodes with the same key prefix must\n"
          "agree on this and on --durable-nodes")
      ->type_name("POLICY")
      ->check(CLI::IsMember({"automatic", "strict", "off"}));
  command.add_flag("--durable-nodes", nodes.durable_nodes,
                   "the nodes write to disk before they answer (appendfsync always), so they lose nothing\n"
                   "when they restart (also set by REDLOCK_DURABLE_NODES=1)");
  add_time(command, "--max-ttl", nodes.max_ttl,
           "the longest ttl of locks on new nodes; once nodes are in use, redlock nodes set raises it. Nodes "
           "that\n"
           "lost their data wait at least this long (default: REDLOCK_MAX_TTL, else 60s)");
  command
      .add_option(
          "--key-prefix", nodes.key_prefix,
          "prefix of every key; each prefix has its own locks and its own record of which nodes lost\n"
          "their data, so all users of a lock need the same one (default: REDLOCK_KEY_PREFIX, else none)")
      ->type_name("PREFIX");
  add_tls(command, nodes);
}

}  // namespace redlock::tool
