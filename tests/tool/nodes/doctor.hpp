// Runs `redlock nodes` and reads what it says, or does what it does.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "redlock/options.hpp"
#include "redlock/testing/local_nodes.hpp"
#include "support/catch.hpp"
#include "tool/nodes/findings.hpp"
#include "tool/nodes/report.hpp"
#include "tool/nodes/survey.hpp"
#include "tool/program.hpp"

namespace redlock::testing {

/// The answer of one `redlock nodes --json`.
class Diagnosis {
 public:
  explicit Diagnosis(const std::vector<std::string>& urls, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"nodes", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Program::Ending ending = run_tool(words, urls);
    code = ending.code;
    text = ending.output;
    UNSCOPED_INFO(text << ending.errors);
    REQUIRE(ending.errors.empty());
    all = nlohmann::json::parse(text);
  }

  /// Whether this was found, about this node or about all of them.
  [[nodiscard]] bool has(const std::string& id, const std::string& node = "") const {
    return find(id, node) != nullptr;
  }
  /// The finding, with its members text, advice and severity; fails if there is none.
  [[nodiscard]] const nlohmann::json& finding(const std::string& id, const std::string& node = "") const {
    const nlohmann::json* const found = find(id, node);
    REQUIRE(found != nullptr);
    return *found;
  }
  [[nodiscard]] std::string state(std::size_t node) const { return all.at("nodes").at(node).at("state"); }

  int code = 0;
  std::string text;
  nlohmann::json all;

 private:
  [[nodiscard]] const nlohmann::json* find(const std::string& id, const std::string& node) const {
    for (const nlohmann::json& finding : all.at("findings"))
      if (finding.at("id") == id && finding.value("node", "") == node) return &finding;
    return nullptr;
  }
};

/// What `redlock nodes` finds, without its process and without the second between two readings of the clocks.
class Findings {
 public:
  explicit Findings(const std::vector<std::string>& urls, const Options& options = {},
                    const std::string& resource = "")
      : survey{tool::survey({{urls.begin(), urls.end()}, options, {}}, resource, {})},
        all{findings_of(survey)} {}

  /// Whether this was found, about this node or about all of them.
  [[nodiscard]] bool has(const std::string& id, const std::string& node = "") const {
    return find(id, node) != all.end();
  }
  /// Fails if there is none.
  [[nodiscard]] const tool::Finding& finding(const std::string& id, const std::string& node = "") const {
    REQUIRE(has(id, node));
    return *find(id, node);
  }
  [[nodiscard]] tool::Severity worst() const { return tool::worst(all); }
  [[nodiscard]] std::string state(std::size_t node) const { return state_of(survey.nodes.at(node)); }

  tool::Survey survey;
  std::vector<tool::Finding> all;

 private:
  [[nodiscard]] std::vector<tool::Finding>::const_iterator find(const std::string& id,
                                                                const std::string& node) const {
    return std::ranges::find_if(
        all, [&](const tool::Finding& finding) { return finding.id == id && finding.node == node; });
  }
};

/// Three servers, each of which is reached at an address of its own.
struct ThreeHosts {
  explicit ThreeHosts(LocalNodesOptions options = {})
      : nodes{3, with_addresses(std::move(options))}, urls{nodes.urls()} {
    for (int node = 0; node < 3; ++node)
      urls[static_cast<std::size_t>(node)] =
          "redis://127.0.0." + std::to_string(node + 1) + ':' + std::to_string(nodes.port(node));
  }

  LocalNodes nodes;
  std::vector<std::string> urls;

 private:
  static LocalNodesOptions with_addresses(LocalNodesOptions options) {
    for (const char* const word : {"--bind", "127.0.0.1", "127.0.0.2", "127.0.0.3"})
      options.arguments.emplace_back(word);
    return options;
  }
};

}  // namespace redlock::testing
