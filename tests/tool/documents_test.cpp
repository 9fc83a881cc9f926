// Documents agree with the program: the man page and the shell completions with --help, and the rules and the
// dashboard for Prometheus with the metrics.
#include <cstddef>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "redlock/metrics/prometheus.hpp"
#include "redlock/status.hpp"
#include "support/catch.hpp"
#include "support/project_file.hpp"
#include "tool/program.hpp"

using namespace redlock::testing;
using nlohmann::json;

namespace {

/// The long options in a help text, without their dashes.
std::set<std::string> options_in(const std::string& help) {
  std::set<std::string> options;
  const std::regex listed{R"(\n  (?:-\w,)?--([a-z-]+))"};
  for (std::sregex_iterator at{help.begin(), help.end(), listed}, end; at != end; ++at)
    options.insert((*at)[1]);
  return options;
}

/// The options in this part of the man page, with their dashes.
std::set<std::string> options_of_synopsis(const std::string& part) {
  std::set<std::string> options;
  const std::regex option{R"(\s(--?[A-Za-z][a-z-]*))"};
  for (std::sregex_iterator at{part.begin(), part.end(), option}, end; at != end; ++at)
    options.insert((*at)[1]);
  return options;
}

/// The commands that `redlock --help` lists.
std::vector<std::string> all_commands() {
  const std::string help = run_tool({"--help"}).output;
  const std::size_t list = help.find("\nSubcommands:");
  REQUIRE(list != std::string::npos);
  const std::regex listed{R"(\n  (\w+) )"};
  std::vector<std::string> commands;
  for (std::sregex_iterator at{help.begin() + static_cast<std::ptrdiff_t>(list), help.end(), listed}, end;
       at != end; ++at)
    commands.push_back((*at)[1]);
  return commands;
}

/// What bash offers as completion of the last word.
std::string completed(const std::string& words) {
  const std::string script = "source " REDLOCK_SOURCE_DIR "/src/tool/completion/redlock.bash; COMP_WORDS=(" +
                             words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _redlock; echo \"${COMPREPLY[@]}\"";
  return Program{{"bash", "-c", script}}.wait().output;
}

/// The labels of each metric, with the values that they can have as far as the library determines them.
using Metrics = std::map<std::string, std::map<std::string, std::set<std::string>>>;

/// What Prometheus' text has when every event has occurred.
Metrics all_metrics() {
  redlock::Prometheus metrics;
  metrics.attempted({});
  metrics.waited({});
  for (const auto failure :
       {redlock::Errc::held, redlock::Errc::timed_out, redlock::Errc::no_quorum, redlock::Errc::too_slow,
        redlock::Errc::cancelled, redlock::Errc::misconfigured}) {
    metrics.attempted({.failure = failure});
    metrics.waited({.failure = failure});
  }
  for (const auto release :
       {redlock::Release::released, redlock::Release::already_lost, redlock::Release::unknown})
    metrics.ended({.release = release});
  for (const auto state : {redlock::State::held, redlock::State::in_doubt, redlock::State::lost})
    metrics.extended({.state = state, .late = redlock::Clock::duration{1}});
  for (const auto step : {redlock::Observer::LineStep::entered, redlock::Observer::LineStep::granted,
                          redlock::Observer::LineStep::left})
    metrics.lined_up({.step = step});
  metrics.node_changed(
      {.node = "redis://a:1", .trouble = redlock::NodeStatus::timed_out, .reconnected = true});
  metrics.certificate_seen({.node = "redis://a:1"});
  metrics.certificate_seen({.node = "redis://a:1", .is_own = true});
  metrics.broken({});
  metrics.dropped(1);

  Metrics all;
  const std::string text = metrics.text();
  const std::regex line{R"(\n(redlock_\w+)(\{[^\n]*\})? )"};
  const std::regex label{R"re((\w+)="([^"]*)")re"};
  for (std::sregex_iterator at{text.begin(), text.end(), line}, end; at != end; ++at) {
    auto& labels = all[(*at)[1]];
    const std::string listed = (*at)[2];
    for (std::sregex_iterator one{listed.begin(), listed.end(), label}; one != end; ++one)
      labels[(*one)[1]].insert((*one)[2]);
  }
  return all;
}

/// Checks the metrics, the labels and the values of labels in an expression. Returns how many metrics it has.
int check_expression(const std::string& expression) {
  static const Metrics metrics = all_metrics();
  static const std::set<std::string> added{"job", "instance",
                                           "resource"};                  // by Prometheus and by redlock run
  static const std::set<std::string> fixed{"outcome", "reason", "end"};  // values that the library determines
  const std::regex use{R"(\b(redlock_\w+)(\{[^}]*\})?)"};
  const std::regex matcher{R"re((\w+)(?:=~|!~|!=|=)"([^"]*)")re"};
  const std::regex value{"[^|]+"};
  int uses = 0;
  for (std::sregex_iterator at{expression.begin(), expression.end(), use}, end; at != end; ++at, ++uses) {
    const std::string name = (*at)[1];
    const std::string matchers = (*at)[2];
    CAPTURE(expression, name);
    const auto metric = metrics.find(name);
    REQUIRE(metric != metrics.end());
    for (std::sregex_iterator one{matchers.begin(), matchers.end(), matcher}; one != end; ++one) {
      const std::string label = (*one)[1];
      const std::string values = (*one)[2];
      CAPTURE(label, values);
      REQUIRE((added.contains(label) || metric->second.contains(label)));
      if (!fixed.contains(label)) continue;
      for (std::sregex_iterator v{values.begin(), values.end(), value}; v != end; ++v)
        CHECK(metric->second.at(label).contains(v->str()));
    }
  }
  return uses;
}

/// The expressions of a file of rules, each with the lines that continue it.
std::vector<std::string> expressions_of_rules(const std::string& file) {
  std::vector<std::string> expressions;
  const std::regex expression{R"(\n {8}expr: ([^\n]*(?:\n {10}[^\n]*)*))"};
  for (std::sregex_iterator at{file.begin(), file.end(), expression}, end; at != end; ++at)
    expressions.push_back((*at)[1]);
  return expressions;
}

}  // namespace

TEST_CASE("every_option_is_in_the_man_page_and_in_all_completions") {
  std::string man = read_project_file("docs/redlock.1");
  man = std::regex_replace(man, std::regex{R"(\\-)"}, "-");
  const std::string bash = read_project_file("src/tool/completion/redlock.bash");
  const std::string zsh = read_project_file("src/tool/completion/_redlock");
  const std::string fish = read_project_file("src/tool/completion/redlock.fish");
  std::set<std::string> options;
  const std::vector<std::string> commands = all_commands();
  CHECK(commands.size() >= 11);
  for (const std::string& command : commands) options.merge(options_in(run_tool({command, "--help"}).output));
  CHECK(options.size() >= 8);
  for (const std::string& option : options) {
    CAPTURE(option);
    CHECK(man.find("--" + option) != std::string::npos);
    CHECK(bash.find("--" + option) != std::string::npos);
    CHECK(zsh.find("--" + option) != std::string::npos);
    CHECK(fish.find("-l " + option) != std::string::npos);
  }
}

TEST_CASE("the_synopsis_in_the_man_page_has_the_options_of_each_command_and_no_others") {
  std::string man = std::regex_replace(read_project_file("docs/redlock.1"), std::regex{R"(\\-)"}, "-");
  man.resize(man.find("\n.SH DESCRIPTION"));
  const auto part = [&man](const std::string& from, const std::string& to) {
    const std::size_t begin = man.find(from);
    REQUIRE(begin != std::string::npos);
    return man.substr(begin, man.find(to, begin) - begin);
  };
  const std::set<std::string> node_options = options_of_synopsis(part("\nEach\n.I NODE-OPTION\n", "\n.SH"));
  const std::vector<std::string> commands = all_commands();
  CHECK(commands.size() >= 11);
  for (const std::string& command : commands) {
    const bool uses_nodes = command != "acl";  // which only prints, and is the last one of the list
    const std::string usage = part("\n.B redlock " + command, uses_nodes ? "\n.br" : "\n.PP");
    CHECK((usage.find("\n.RI [ NODE-OPTION ]...\n") != usage.npos) == uses_nodes);
    std::set<std::string> shown = options_of_synopsis(usage);
    if (uses_nodes) shown.insert(node_options.begin(), node_options.end());
    const std::string help = run_tool({command, "--help"}).output;
    const std::regex listed{R"(\n  (?:(-\w),)?(--[a-z-]+))"};
    for (std::sregex_iterator at{help.begin(), help.end(), listed}, end; at != end; ++at) {
      CAPTURE(command, (*at)[2].str());
      if ((*at)[2] != "--help") CHECK(shown.erase((*at)[1]) + shown.erase((*at)[2]) == 1);
    }
    CHECK(shown == std::set<std::string>{});
  }
}

TEST_CASE("bash_completes_the_options_of_redlock_and_then_the_command") {
  CHECK(completed("redlock ''") ==
        "run elect leader status list watch release revoke check nodes acl --help --version\n");
  CHECK(completed("redlock run --kill") == "--kill-after\n");
  CHECK(completed("redlock run --sh") == "--shared\n");
  CHECK(completed("redlock run --tls-min-version ''") == "1.2 1.3\n");
  CHECK(completed("redlock acl --for sh") == "shared\n");
  CHECK(completed("redlock status --j") == "--json\n");
  CHECK(completed("redlock run --ttl ''") == "\n");
  CHECK((" " + completed("redlock run r s -- tru")).find(" true") != std::string::npos);
}

TEST_CASE("the_alert_rules_use_metrics_that_exist") {
  const std::string file = read_project_file("docs/monitoring/alerts.yml");
  const auto expressions = expressions_of_rules(file);
  CHECK(expressions.size() >= 5);
  const std::regex alert{"\n *- alert: "};
  CHECK(std::distance(std::sregex_iterator{file.begin(), file.end(), alert}, {}) == std::ssize(expressions));
  for (const std::string& expression : expressions) CHECK(check_expression(expression) >= 1);
}

TEST_CASE("the_dashboard_uses_metrics_that_exist_and_shows_all_of_them") {
  const json dashboard = json::parse(read_project_file("docs/monitoring/dashboard.json"));
  std::string all;
  for (const auto& panel : dashboard.at("panels"))
    for (const auto& target : panel.at("targets")) {
      CHECK(check_expression(target.at("expr")) >= 1);
      all += target.at("expr").get<std::string>() + "\n";
    }
  for (const auto& variable : dashboard.at("templating").at("list"))
    if (variable.at("type") == "query") CHECK(check_expression(variable.at("query").at("query")) == 1);
  for (const auto& [name, labels] : all_metrics()) {
    const std::string metric = std::regex_replace(name, std::regex{"_(bucket|sum|count)$"}, "");
    CAPTURE(metric);
    CHECK(all.find(metric) != std::string::npos);
  }
}

TEST_CASE("the_panels_of_the_dashboard_have_ids_of_their_own_and_do_not_overlap") {
  const json dashboard = json::parse(read_project_file("docs/monitoring/dashboard.json"));
  CHECK(dashboard.at("schemaVersion").get<int>() >= 36);
  std::set<int> ids;
  std::set<std::pair<int, int>> taken;
  for (const auto& panel : dashboard.at("panels")) {
    CAPTURE(panel.at("title").get<std::string>());
    CHECK(ids.insert(panel.at("id").get<int>()).second);
    CHECK(panel.at("datasource").at("uid") == "${datasource}");
    const auto& place = panel.at("gridPos");
    const int left = place.at("x");
    const int top = place.at("y");
    CHECK(left + place.at("w").get<int>() <= 24);
    for (int x = left; x < left + place.at("w").get<int>(); ++x)
      for (int y = top; y < top + place.at("h").get<int>(); ++y) CHECK(taken.emplace(x, y).second);
  }
  CHECK(ids.size() >= 10);
}
