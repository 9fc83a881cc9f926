#include "tool/nodes/report.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>

#include "redlock/core/base/printable.hpp"
#include "tool/lock_state.hpp"
#include "tool/table.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

using std::chrono::milliseconds;
using Report = Table<11>;

std::string word(const std::optional<std::string>& text) { return text ? core::printable(*text, 40) : "?"; }

/// A number in this format. Zero has no minus.
std::string decimal(double value, const char* format = "%.1f") {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  std::string shown = text.data();
  if (shown.starts_with("-0.0") && shown.find_first_of("123456789") == shown.npos) shown[0] = '+';
  return shown;
}

/// In the largest unit of which it has one.
std::string uptime(const std::optional<std::chrono::seconds>& time) {
  if (!time) return "?";
  using std::chrono::floor;
  if (*time >= std::chrono::days{1}) return std::to_string(floor<std::chrono::days>(*time).count()) + " d";
  if (*time >= std::chrono::hours{1}) return std::to_string(floor<std::chrono::hours>(*time).count()) + " h";
  if (*time >= std::chrono::minutes{1})
    return std::to_string(floor<std::chrono::minutes>(*time).count()) + " min";
  return std::to_string(time->count()) + " s";
}

std::string persistence(const NodeFacts& facts) {
  if (!facts.appends) return "?";
  if (*facts.appends) return "aof " + word(facts.appendfsync);
  if (!facts.save) return "no aof";
  return facts.save->empty() ? "none" : "rdb";
}

std::string memory_left(const NodeFacts& facts) {
  if (!facts.memory_limit || !facts.memory_used) return "?";
  if (*facts.memory_limit == 0) return "no limit";
  const std::uint64_t left = *facts.memory_limit - std::min(*facts.memory_limit, *facts.memory_used);
  constexpr double mebibyte = 1 << 20;
  return decimal(static_cast<double>(left) / mebibyte) + " MiB";
}

std::string offset(const NodeFacts& facts) {
  if (!facts.clock) return "?";
  const double ms = std::chrono::duration<double, std::milli>{facts.clock->offset}.count();
  return ms < 1000 && ms > -1000 ? decimal(ms, "%+.1f ms") : decimal(ms / 1000, "%+.1f s");
}

std::string rate(const NodeFacts& facts) {
  return facts.clock ? decimal(100 * facts.clock->rate, "%+.2f %%") : "?";
}

std::string round_trip(const NodeView& node, const Survey& survey) {
  if (!node.facts.round_trip) return "?";
  const std::chrono::duration<double, std::milli> time = *node.facts.round_trip;
  const std::chrono::duration<double, std::milli> limit = survey.node_timeout();
  return decimal(time.count(), "%.2f") + " of " + decimal(limit.count(), "%.0f ms");
}

Report::Row row_of(const NodeView& node, const Survey& survey) {
  const NodeFacts& facts = node.facts;
  return {node.report.node,     state_of(node),     word(facts.version),         word(facts.role),
          uptime(facts.uptime), persistence(facts), word(facts.eviction_policy), memory_left(facts),
          offset(facts),        rate(facts),        round_trip(node, survey)};
}

void print_unseen(const Survey& survey) {
  for (const NodeView& node : survey.nodes) {
    std::string line;
    for (const std::string& what : unseen_on(node, survey.options)) line += (line.empty() ? "" : ", ") + what;
    if (!line.empty()) std::cout << "not seen: " << node.report.node << ": " << line << '\n';
  }
}

}  // namespace

std::string state_of(const NodeView& node) {
  if (!node.missing(Use::locking).empty()) return "lacks rights";
  if (!has_voted(node.report)) {
    const std::string status{to_string(node.report.status)};
    const bool is_known = node.report.votes_in.value_or(milliseconds::zero()) > milliseconds::zero();
    return is_known ? status + ", " + readable(*node.report.votes_in) + " left" : status;
  }
  return node.facts.marker_text == "" ? "new" : "voting";
}

std::string describe(const Survey& survey) {
  const std::size_t votes = survey.votes();
  std::string text = std::to_string(votes) + " of " + std::to_string(survey.nodes.size()) +
                     (votes == 1 ? " nodes votes, " : " nodes vote, ") + std::to_string(survey.quorum()) +
                     (survey.quorum() == 1 ? " is needed." : " are needed.");
  if (const auto deployment = survey.deployment())
    text += " Deployment " + deployment->deployment + ", locks of up to " +
            readable(deployment->limits.max_ttl) + ".";
  else if (votes > 0 && survey.options.restart_guard != RestartGuard::off)
    text += " There is no deployment yet: the first lock begins one, or redlock nodes init.";
  return text;
}

void print_report(const Survey& survey, const std::vector<Finding>& findings) {
  std::vector<Report::Row> rows{{"NODE", "STATE", "VERSION", "ROLE", "UPTIME", "PERSISTENCE", "EVICTION",
                                 "MEMORY LEFT", "CLOCK", "RATE", "ROUND TRIP"}};
  for (const NodeView& node : survey.nodes) rows.push_back(row_of(node, survey));
  Report{}.print(rows);
  std::cout << '\n' << describe(survey) << '\n';
  for (const Finding& finding : findings)
    std::cout << to_string(finding.severity) << ": " << (finding.node.empty() ? "" : finding.node + ": ")
              << finding.text << ". " << finding.advice << '\n';
  print_unseen(survey);
  constexpr const char* conclusions[] = {"Healthy.", "Degraded: locks can be had.",
                                         "Unsafe: do not rely on these nodes as they are."};
  std::cout << conclusions[static_cast<std::size_t>(worst(findings))] << '\n';
}

}  // namespace redlock::tool
