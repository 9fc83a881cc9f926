#include "tool/nodes/commands.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "redlock/redlock.hpp"
#include "tool/exit_code.hpp"
#include "tool/lock_state.hpp"
#include "tool/nodes/findings.hpp"
#include "tool/nodes/report.hpp"
#include "tool/nodes/survey.hpp"
#include "tool/nodes/voting.hpp"
#include "tool/time_text.hpp"

namespace redlock::tool {
namespace {

using std::chrono::milliseconds;

/// Long enough to see a rate that is off by much less than locks allow for.
constexpr std::chrono::seconds between_clock_readings{1};
/// Marking new nodes takes a few round trips, and every node has to be seen voting for two seconds.
constexpr std::chrono::seconds time_to_begin{10};

int wait_for_all(const NodesArguments& arguments) {
  const Nodes nodes = choose_nodes(arguments.nodes);
  Redlock locks{nodes.endpoints, nodes.options};
  const std::vector<Vote> votes =
      wait_until_all_vote(locks, nodes.options, made_up_resource(), arguments.timeout);
  print(votes);
  return exit_code_of(votes);
}

int diagnose(const NodesArguments& arguments) {
  const Survey all = survey(choose_nodes(arguments.nodes), arguments.resource, between_clock_readings);
  const std::vector<Finding> findings = findings_of(all);
  arguments.json ? print_report_as_json(all, findings) : print_report(all, findings);
  constexpr ExitCode codes[] = {success, degraded, unsafe};
  return codes[static_cast<std::size_t>(worst(findings))];
}

void print_missing(const Survey& all) {
  for (const NodeView& node : all.nodes)
    if (!node.votes()) std::cout << "  " << node.report.node << ": " << state_of(node) << '\n';
}

/// Says why a deployment cannot begin, unless all nodes are there.
void require_all(const Survey& all) {
  std::vector<NodeReport> missing;
  for (const NodeView& node : all.nodes) {
    const bool is_there = node.votes() || node.report.status == NodeStatus::quarantined;
    if (!is_there || !node.facts.marker_text) missing.push_back(node.report);
  }
  if (missing.empty()) return;
  const bool is_wrong = std::ranges::any_of(
      missing, [](const NodeReport& report) { return is_misconfiguration(report.status); });
  throw Error{is_wrong ? Errc::misconfigured : Errc::no_quorum,
              "nothing was begun, because that takes all " + std::to_string(all.nodes.size()) +
                  " nodes; the others would have to wait for their longest ttl",
              std::move(missing)};
}

int report_existing(const Survey& all, const NodeChoice& choice) {
  std::cout << "There is a deployment already; nothing was changed. " << describe(all) << '\n';
  const milliseconds max_ttl = all.deployment()->limits.max_ttl;
  if (choice.max_ttl && *choice.max_ttl != max_ttl)
    std::cout << "The nodes keep their longest ttl, " << readable(max_ttl)
              << "; redlock nodes set --max-ttl raises it.\n";
  print_missing(all);
  return all.votes() == all.nodes.size() ? success : no_quorum;
}

}  // namespace

int nodes(const NodesArguments& arguments) {
  return arguments.wait ? wait_for_all(arguments) : diagnose(arguments);
}

int set_max_ttl(const NodesArguments& arguments) {
  const Nodes nodes = choose_nodes(arguments.nodes);
  Redlock locks{nodes.endpoints, nodes.options};
  const std::chrono::nanoseconds max_ttl = locks.raise_max_ttl(*arguments.nodes.max_ttl);
  std::cout << "max_ttl is " << readable(max_ttl) << '\n';
  return success;
}

int begin_deployment(const NodesArguments& arguments) {
  const Nodes nodes = choose_nodes(arguments.nodes);
  if (nodes.options.restart_guard == RestartGuard::off)
    throw Error{Errc::invalid_argument, "the restart guard is off, so there is no deployment to begin"};
  const Survey before = survey(nodes, arguments.resource, {});
  if (before.deployment()) return report_existing(before, arguments.nodes);
  require_all(before);
  Redlock locks{nodes.endpoints, nodes.options};
  // Not the resource itself, whose users may want it now. An ACL that allows names like `app:*` allows this one, too.
  const std::string separator = arguments.resource.empty() ? "" : "-";
  const std::string resource = arguments.resource + separator + made_up_resource();
  const std::vector<Vote> votes = wait_until_all_vote(locks, nodes.options, resource, time_to_begin);
  const Survey after = survey(nodes, arguments.resource, {});
  std::cout
      << (after.deployment()
              ? "The deployment has begun. "
              : "The nodes begin a deployment when they have waited; redlock nodes --wait returns then. ")
      << describe(after) << '\n';
  print_missing(after);
  return exit_code_of(votes);
}

}  // namespace redlock::tool
