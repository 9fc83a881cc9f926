#include "nodes.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "redlock/error.hpp"

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

}  // namespace

Nodes choose_nodes(const NodeChoice& choice) {
  Nodes nodes;
  std::vector<std::string> urls = choice.urls;
  if (choice.local > 0) {
    if (!urls.empty())
      throw Error{Errc::misconfigured, "--local starts nodes of its own: give no --node beside it"};
    nodes.servers = std::make_unique<redlock::testing::LocalNodes>(choice.local);
    nodes.local_urls = nodes.servers->urls();
    urls = nodes.local_urls;
  }
  if (urls.empty()) urls = nodes_of_environment();
  if (urls.empty())
    throw Error{Errc::misconfigured,
                "no nodes: give --node URL for each, or set REDLOCK_NODES to a list with commas; "
                "--local 5 starts private servers to try it out"};
  for (const std::string& url : urls) nodes.endpoints.emplace_back(url);
  return nodes;
}

}  // namespace redlock::tool
