#include "tool/nodes.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "redlock/error.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
  return text.substr(0, text.find_last_not_of(blank) + 1);
}

std::vector<std::string> nodes_of_environment() {
  const char* const variable = std::getenv("REDLOCK_NODES");
  std::string_view rest = variable ? variable : "";
  std::vector<std::string> urls;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view url = trimmed(rest.substr(0, comma));
    if (!url.empty()) urls.emplace_back(url);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return urls;
}

/// Returns an empty string if the variable is not set.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return std::string{trimmed(value ? value : "")};
}

RestartGuard guard_of(const std::string& name) {
  if (name.empty() || name == "automatic") return RestartGuard::automatic;
  if (name == "strict") return RestartGuard::strict;
  if (name == "off") return RestartGuard::off;
  throw Error{Errc::misconfigured, "REDLOCK_RESTART_GUARD is " + name + "; allowed: automatic, strict, off"};
}

bool is_durable(const std::string& value) {
  if (value == "1") return true;
  if (value.empty() || value == "0") return false;
  throw Error{Errc::misconfigured, "REDLOCK_DURABLE_NODES is " + value + "; allowed: 1, 0"};
}

Duration max_ttl_of(const std::string& text) try {
  return text.empty() ? Options{}.max_ttl : Duration{parse_time(text)};
} catch (const std::invalid_argument& error) {
  throw Error{Errc::misconfigured, "REDLOCK_MAX_TTL: " + std::string{error.what()}};
}

}  // namespace

Nodes choose_nodes(const NodeChoice& choice) {
  Nodes nodes;
  std::vector<std::string> urls = choice.urls;
  if (choice.local > 0) {
    if (!urls.empty())
      throw Error{Errc::misconfigured, "--local starts its own nodes; do not use it with --node"};
    nodes.servers = std::make_unique<redlock::testing::LocalNodes>(choice.local);
    nodes.local_urls = nodes.servers->urls();
    urls = nodes.local_urls;
  }
  if (urls.empty()) urls = nodes_of_environment();
  if (urls.empty())
    throw Error{
        Errc::misconfigured,
        "no nodes given: use --node URL for each node, or set REDLOCK_NODES to a comma-separated list; "
        "to try it out, --local 5 starts private servers"};
  for (const std::string& url : urls) nodes.endpoints.emplace_back(url);
  return nodes;
}

Options options_of(const NodeChoice& choice) {
  Options options;
  options.restart_guard = guard_of(choice.restart_guard.value_or(variable("REDLOCK_RESTART_GUARD")));
  options.durable_nodes = choice.durable_nodes || is_durable(variable("REDLOCK_DURABLE_NODES"));
  options.max_ttl = choice.max_ttl ? Duration{*choice.max_ttl} : max_ttl_of(variable("REDLOCK_MAX_TTL"));
  const char* const prefix = std::getenv("REDLOCK_KEY_PREFIX");
  options.key_prefix = choice.key_prefix.value_or(prefix ? prefix : "");
  return options;
}

}  // namespace redlock::tool
