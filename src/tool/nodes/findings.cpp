#include "tool/nodes/findings.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "redlock/core/base/printable.hpp"
#include "redlock/core/base/quorum.hpp"
#include "tool/lock_state.hpp"
#include "tool/nodes/node_findings.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

/// Whether the server writes to disk before it answers.
bool is_durable(const NodeView& node) {
  return node.facts.appends == true && node.facts.appendfsync == "always";
}

class Examiner {
 public:
  Examiner(const Survey& survey, std::vector<Finding>& to) : survey_{survey}, to_{to} {}

  void votes() {
    const std::size_t all = survey_.nodes.size();
    const std::size_t needed = survey_.quorum();
    const std::size_t votes = survey_.votes();
    const std::string sum = std::to_string(votes) + " of " + counted(all, "node") + " vote" +
                            (votes == 1 ? "s" : "") + ", and " + std::to_string(needed) +
                            (needed == 1 ? " is" : " are") + " needed";
    if (votes < needed)
      return add(Severity::unsafe, "no_quorum", sum + ": no lock can be had", how_to_vote());
    if (votes < all)
      add(Severity::degraded, "few_votes",
          sum + ": " +
              (votes == needed ? "the next node that fails stops all locks"
                               : "at most " + std::to_string(votes - needed) + " more may fail"),
          "Fix the nodes that do not vote.");
  }

  void number() {
    const std::size_t all = survey_.nodes.size();
    if (all == 1)
      add(Severity::degraded, "one_node", "a single node stops all locks when it fails",
          "Use three or five nodes.");
    else if (all % 2 == 0)
      add(Severity::degraded, "even_number",
          counted(all, "node") + " tolerate no more failures than " + std::to_string(all - 1),
          "Use an odd number of nodes; docs/safety.md says how to change it.");
  }

  void hosts() {
    const auto& nodes = survey_.nodes;
    const std::string& host = nodes.front().host;
    const auto is_there = [&](const NodeView& node) { return node.host == host; };
    if (nodes.size() == 1 || !std::ranges::all_of(nodes, is_there)) return;
    add(Severity::degraded, "one_host",
        "all nodes are on one host, " + core::printable(host) + ", and fail together with it",
        "Use separate machines, with disks and power supplies of their own.");
  }

  void guard() {
    if (survey_.options.restart_guard != RestartGuard::off) return;
    if (!std::ranges::all_of(survey_.nodes, is_durable))
      add(Severity::unsafe, "no_guard",
          "the restart guard is off, so a node that restarts without its data lets a second holder in",
          "Set the restart guard to automatic or strict for all clients.");
  }

  void limits() {
    const auto deployment = survey_.deployment();
    if (!deployment) return;
    core::TtlLimits greatest = deployment->limits;
    bool differ = false;
    for (const NodeView& node : survey_.nodes) {
      if (!node.facts.marker || node.facts.marker->deployment != deployment->deployment) continue;
      const core::TtlLimits& limits = node.facts.marker->limits;
      differ |= limits != deployment->limits || limits.ceiling != limits.max_ttl;
      greatest.max_ttl = std::max(greatest.max_ttl, limits.max_ttl);
      greatest.ceiling = std::max(greatest.ceiling, limits.ceiling);
    }
    if (differ)
      add(Severity::degraded, "max_ttl_differs", "the nodes do not agree on the longest ttl of locks",
          "Run redlock nodes set --max-ttl " + std::to_string(greatest.ceiling.count()) +
              "ms when all nodes vote.");
    if (survey_.options.max_ttl.get() < greatest.ceiling)
      add(Severity::degraded, "max_ttl_low",
          "the nodes allow locks of up to " + readable(greatest.ceiling) +
              ", but max_ttl of this configuration is " + readable(survey_.options.max_ttl.get()),
          "Set REDLOCK_MAX_TTL to " + std::to_string(greatest.ceiling.count()) +
              "ms for all clients: nodes that lose their data while the others are away wait at least that "
              "long.");
  }

  void durability() {
    const bool could_use =
        survey_.options.restart_guard != RestartGuard::off && !survey_.options.durable_nodes;
    if (could_use && std::ranges::all_of(survey_.nodes, is_durable))
      add(Severity::note, "durable", "all nodes write to disk before they answer, but wait after a restart",
          "Set REDLOCK_DURABLE_NODES=1 for all clients if the disks really keep what was written.");
  }

  /// A clock that differs from most is wrong. If most differ from this machine's, that one is.
  void clocks() {
    std::vector<nanoseconds> offsets;
    for (const NodeView& node : survey_.nodes)
      if (node.facts.clock) offsets.push_back(node.facts.clock->offset);
    if (offsets.empty()) return;
    const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>(offsets.size() / 2);
    std::nth_element(offsets.begin(), middle, offsets.end());
    const nanoseconds common = *middle;
    const std::string advice = "Set the clock right: let NTP slew it. A step forward ends locks early.";
    if (common > tolerance || common < -tolerance)
      add(Severity::degraded, "own_clock",
          "the clock of this machine is " + difference(-common) + " the nodes'", advice);
    for (const NodeView& node : survey_.nodes) {
      if (!node.facts.clock) continue;
      const nanoseconds off = node.facts.clock->offset - common;
      const nanoseconds sure = std::chrono::abs(off) - node.facts.clock->offset_uncertainty;
      if (sure > tolerance)
        to_.push_back({Severity::degraded, "clock", node.report.node,
                       "its clock is " + difference(off) + " those of most nodes", advice});
    }
  }

 private:
  static constexpr nanoseconds tolerance = std::chrono::seconds{1};

  static std::string difference(nanoseconds off) {
    return readable(std::chrono::abs(off)) + (off > nanoseconds::zero() ? " ahead of" : " behind");
  }

  [[nodiscard]] std::string how_to_vote() const {
    std::vector<NodeReport> reports;
    for (const NodeView& node : survey_.nodes) reports.push_back(node.report);
    const auto wait = majority_votes_in(reports);
    if (!wait || *wait == nanoseconds::zero()) return "Fix the nodes that do not vote.";
    return "Wait: enough nodes vote again in " + readable(std::chrono::ceil<milliseconds>(*wait)) + ".";
  }

  void add(Severity severity, std::string id, std::string text, std::string advice) {
    to_.push_back({severity, std::move(id), {}, std::move(text), std::move(advice)});
  }

  const Survey& survey_;
  std::vector<Finding>& to_;
};

}  // namespace

std::vector<Finding> findings_of(const Survey& survey) {
  std::vector<Finding> findings;
  Examiner examiner{survey, findings};
  examiner.votes();
  for (const NodeView& node : survey.nodes) examine(node, survey, findings);
  examiner.guard();
  examiner.limits();
  examiner.clocks();
  examiner.hosts();
  examiner.number();
  examiner.durability();
  std::ranges::stable_sort(findings, std::ranges::greater{}, &Finding::severity);
  return findings;
}

std::string_view to_string(Severity severity) noexcept {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::degraded:
      return "degraded";
    case Severity::unsafe:
      break;
  }
  return "unsafe";
}

Severity worst(const std::vector<Finding>& findings) {
  Severity worst = Severity::note;
  for (const Finding& finding : findings) worst = std::max(worst, finding.severity);
  return worst;
}

std::vector<std::string> unseen_on(const NodeView& node, const Options& options) {
  const NodeFacts& facts = node.facts;
  if (!facts.trouble.empty() && has_voted(node.report))
    return {"everything else (" + core::printable(facts.trouble) + ")"};
  if (!facts.trouble.empty()) return {"everything else"};
  std::vector<std::string> unseen;
  const auto note = [&](bool is_seen, const char* what) {
    if (!is_seen) unseen.emplace_back(what);
  };
  note(facts.version && facts.uptime, "version and uptime (INFO server)");
  note(facts.role.has_value(), "role (ROLE)");
  note(facts.eviction_policy && facts.memory_used && facts.memory_limit, "memory (INFO memory)");
  note(facts.appends.has_value(), "append-only file (INFO persistence)");
  note(facts.appends == false || facts.appendfsync, "appendfsync (CONFIG GET)");
  note(facts.appends != false || facts.save, "snapshots (CONFIG GET)");
  note(facts.clock.has_value(), "clock (TIME)");
  note(options.restart_guard == RestartGuard::off || facts.marker_text, "marker (EVAL)");
  note(facts.missing.has_value(), "rights");
  return unseen;
}

}  // namespace redlock::tool
