// A user who has few rights.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/support/observers.hpp"
#include "redlock/redlock.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "support/granted.hpp"
#include "support/network/raw_client.hpp"

namespace redlock::testing {

/// A key prefix, or none: another rule names the keys then.
inline std::string some_prefix() { return GENERATE(as<std::string>{}, "app:", ""); }

/// Servers that are in use already, and their user "app". The test and the client `others` have all rights.
struct LimitedUser {
  using Rules = std::vector<std::string>;

  std::string prefix;
  LocalNodes nodes;
  Observers servers{nodes};
  RawClient& server = servers[0];
  Redlock others{endpoints(nodes), options(unhurried.node_timeout)};
  std::vector<std::string> urls;

  explicit LimitedUser(std::string key_prefix, int count = 1) : prefix{std::move(key_prefix)}, nodes{count} {
    for (int node = 0; node < count; ++node)
      urls.push_back("redis://app:secret@127.0.0.1:" + std::to_string(nodes.port(node)));
    REQUIRE(is_granted(others.try_lock("r")));
  }
  LimitedUser(const LimitedUser&) = delete;
  LimitedUser& operator=(const LimitedUser&) = delete;

  /// These rights only. The servers forget what they have refused.
  void give(const Rules& rules) {
    Rules command{"ACL", "SETUSER", "app", "reset", "on", ">secret"};
    command.insert(command.end(), rules.begin(), rules.end());
    for (RawClient& client : servers) {
      REQUIRE(client.command(command) == "OK");
      REQUIRE(client.command({"ACL", "LOG", "RESET"}) == "OK");
    }
  }
  /// The same, and the servers forget all locks, lines, scripts and connections of the user as well.
  void allow(const Rules& rules) {
    for (RawClient& client : servers) {
      client.command({"CLIENT", "KILL", "USER", "app"});
      client.command({"SCRIPT", "FLUSH"});
      for (const std::string& key : client.keys())
        if (!key.starts_with("redlock:node") && !key.starts_with("redlock:quarantine")) client.del(key);
    }
    give(rules);
  }
  /// What the servers have refused; empty if nothing.
  std::string refusals() {
    std::string all;
    for (RawClient& client : servers)
      if (const std::string log = client.command({"ACL", "LOG"}); log != "[]") all += log;
    return all;
  }
  bool has_refused() { return !refusals().empty(); }
  /// The name of the lock's key, or of its companion of this kind.
  [[nodiscard]] std::string key(const std::string& resource) const { return prefix + resource; }
  [[nodiscard]] std::string companion(const std::string& kind, const std::string& resource) const {
    return "redlock:" + kind + ":{" + key(resource) + '}';
  }
  /// A client of this user, which by default a busy machine does not disturb.
  [[nodiscard]] Redlock client(std::optional<Duration> node_timeout = unhurried.node_timeout) const {
    return Redlock{urls, options(node_timeout)};
  }

 private:
  [[nodiscard]] Options options(std::optional<Duration> node_timeout) const {
    return {.node_timeout = node_timeout, .key_prefix = prefix, .on_warning = [](std::string_view) {}};
  }
};

}  // namespace redlock::testing
